/// An error answer of RFC 6749 section 5.2 with the fields that native authentication adds.
struct ProtocolError: Error, Hashable, CustomStringConvertible {
    let error: String
    let number: Int
    let text: String
    let suberror: String?
    let status: Int
    var members: [String: JSON] = [:]
    var headers: [String: String] = [:]

    init(_ error: String, _ number: Int, _ text: String, suberror: String? = nil, status: Int = 400) {
        self.error = error
        self.number = number
        self.text = text
        self.suberror = suberror
        self.status = status
    }

    var description: String { suberror.map { "\(error)/\($0)" } ?? error }

    func with(_ members: [String: JSON] = [:], headers: [String: String] = [:]) -> Self {
        var error = self
        error.members = members
        error.headers = headers
        return error
    }
}
