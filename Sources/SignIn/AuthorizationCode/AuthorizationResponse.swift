package import OAuth

/// The parameters of a redirect ([RFC 6749 §4.1.2](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2)).
package struct AuthorizationResponse: Sendable {
    private var parameters: [String: Secret] = [:]

    /// Why it cannot be used, if it is not encoded as it should be or has a parameter twice.
    package private(set) var flaw: String?

    /// The parameters that decide something.
    ///
    /// Others count for nothing (RFC 6749 §4.1.2), and are mended where they are malformed, as a text for people in
    /// another character set is.
    private static let meaningful: Set = ["code", "error", "error_subcode", "iss", "state"]

    /// Reads `application/x-www-form-urlencoded`, as a query and a form have it.
    package init(_ text: some Sequence<UInt8>) {
        var names: Set<String> = []
        for pair in Array(text).split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = Self.decoded(pair[..<equals], mending: true)
            let isMended = name.map { !Self.meaningful.contains($0) } ?? true
            let value = Self.decoded(pair[equals...].dropFirst(), mending: isMended)
            guard let name, let value else {
                flaw = "is not encoded as it should be"
                continue
            }
            if names.insert(name).inserted {
                parameters[name] = Secret(value)
            } else {
                // RFC 6749 §3.1: which of two would count differs from reader to reader, so neither does.
                parameters[name] = nil
                flaw = "has a parameter twice"
            }
        }
    }

    /// The same as one that cannot be used.
    func refused(for flaw: String) -> AuthorizationResponse {
        var response = self
        response.flaw = flaw
        return response
    }

    package subscript(name: String) -> Secret? { parameters[name] }

    /// Whether it says anything that an answer says; a browser also asks for icons and the like.
    package var isAnswer: Bool { ["code", "error", "state"].contains { parameters[$0] != nil } }

    /// The error that the issuer answered with.
    package var refusal: OAuthError? {
        guard let error = parameters["error"]?.reveal(), !error.isEmpty else { return nil }
        var refusal = OAuthError(code: .named(error), status: 0)
        refusal.serverDescription = parameters["error_description"]?.reveal()
        refusal.suberror = parameters["error_subcode"].flatMap { OAuthError.name($0.reveal()) }
        return refusal
    }

    private static func decoded(_ bytes: some Sequence<UInt8>, mending: Bool = false) -> String? {
        var text: [UInt8] = []
        var rest = Array(bytes)[...]
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): text.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                let digits = rest.prefix(2).compactMap(\.hexadecimal)
                if digits.count == 2 {
                    text.append(digits[0] << 4 | digits[1])
                    rest = rest.dropFirst(2)
                } else if mending {
                    text.append(byte)
                } else {
                    return nil
                }
            default: text.append(byte)
            }
        }
        return mending ? String(decoding: text, as: UTF8.self) : String(validating: text, as: UTF8.self)
    }
}
