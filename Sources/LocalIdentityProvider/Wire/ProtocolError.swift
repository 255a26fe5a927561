/// An error answer of RFC 6749 section 5.2 with the fields that native authentication adds.
struct ProtocolError: Error, Hashable, CustomStringConvertible {
    let error: String
    let number: Int
    let text: String
    var suberror: String?
    var status = 400
    var extra: [String: JSON] = [:]
    var headers: [String: String] = [:]

    init(
        _ error: String,
        _ number: Int,
        _ text: String,
        suberror: String? = nil,
        status: Int = 400,
        extra: [String: JSON] = [:],
        headers: [String: String] = [:]
    ) {
        self.error = error
        self.number = number
        self.text = text
        self.suberror = suberror
        self.status = status
        self.extra = extra
        self.headers = headers
    }

    var description: String { suberror.map { "\(error)/\($0)" } ?? error }

    static func invalidRequest(_ number: Int, _ text: String) -> Self { Self("invalid_request", number, text) }

    static func invalidGrant(_ number: Int, _ text: String, suberror: String? = nil) -> Self {
        Self("invalid_grant", number, text, suberror: suberror)
    }

    /// The phrase is the one that native clients look for.
    static func invalidParameter(_ name: String) -> Self {
        invalidRequest(90100, "\(name) parameter is empty or not valid.")
    }
}
