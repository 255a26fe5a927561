package import OAuth

/// The parameters of a redirect ([RFC 6749 §4.1.2](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2)).
package struct AuthorizationResponse: Sendable {
    /// By the bytes of their names: to hash a text takes quadratic time on combining marks, and any page can send one.
    private var parameters: [[UInt8]: Secret] = [:]

    /// Why it cannot be used, if it is not encoded as it should be or has a parameter twice.
    package private(set) var flaw: String?

    /// The parameters that decide something.
    ///
    /// Others count for nothing (RFC 6749 §4.1.2), and are mended where they are malformed, as a text for people in
    /// another character set is.
    private static let meaningful = Set(["code", "error", "error_subcode", "iss", "state"].map { Array($0.utf8) })

    /// Reads `application/x-www-form-urlencoded`, as a query and a form have it.
    package init(_ text: some Sequence<UInt8>) {
        var names: Set<[UInt8]> = []
        for pair in Array(text).split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = Self.decoded(pair[..<equals], mending: true)
            let isMended = name.map { !Self.meaningful.contains($0) } ?? true
            let value = Self.text(pair[equals...].dropFirst(), mending: isMended)
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

    package subscript(name: String) -> Secret? { parameters[Array(name.utf8)] }

    /// Whether it says anything that an answer says; a browser also asks for icons and the like.
    package var isAnswer: Bool { ["code", "error", "state"].contains { self[$0] != nil } }

    /// The error that the issuer answered with.
    package var refusal: OAuthError? {
        guard let error = self["error"]?.reveal(), !error.isEmpty else { return nil }
        var refusal = OAuthError(code: .named(error), status: 0)
        refusal.serverDescription = self["error_description"]?.reveal()
        refusal.suberror = self["error_subcode"].flatMap { OAuthError.name($0.reveal()) }
        return refusal
    }

    private static func text(_ bytes: some Sequence<UInt8>, mending: Bool) -> String? {
        guard let text = decoded(bytes, mending: mending) else { return nil }
        return mending ? String(decoding: text, as: UTF8.self) : String(validating: text, as: UTF8.self)
    }

    private static func decoded(_ bytes: some Sequence<UInt8>, mending: Bool) -> [UInt8]? {
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
        return text
    }
}
