import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport

/// One HTTP answer.
struct Answer: Sendable, CustomStringConvertible {
    let status: Int
    let headers: [(String, String)]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var description: String { "\(status) \(text)" }

    func header(_ name: String) -> String? { headers.first { $0.0 == name }?.1 }

    /// A member of the body, null if there is none.
    subscript(name: String) -> JSONValue {
        (try? JSONValue(parsing: body))?[name] ?? .null  // what is not JSON has no members
    }

    func text(_ name: String) throws -> String {
        guard let text = self[name].text else { throw ExpectationFailure("\(name) in \(self)") }
        return text
    }

    var token: String { get throws { try text("continuation_token") } }
    var error: String? { self["error"].text }
    var suberror: String? { self["suberror"].text }
    var number: Int? { self["error_codes"].array?.first?.seconds.map { Int($0) } }

    /// The claims of a token in the answer, unverified.
    func claims(of name: String) throws -> JSONValue { try Self.claims(in: text(name)) }

    static func claims(in token: String) throws -> JSONValue {
        let parts = token.split(separator: ".")
        guard parts.count == 3 else { throw ExpectationFailure("a token") }
        return try JSONValue(parsing: base64URL(String(parts[1])))
    }

    static func base64URL(_ text: String) throws -> Data {
        guard let bytes = Base64URL.decode(text.utf8) else { throw ExpectationFailure("base64url") }
        return Data(bytes)
    }

    /// A query parameter of the `Location` header.
    func location(_ name: String) throws -> String {
        let components = header("location").flatMap { URLComponents(string: $0) }
        guard let value = components?.queryItems?.first(where: { $0.name == name })?.value else {
            throw ExpectationFailure("\(name) in Location \(header("location") ?? "-")")
        }
        return value
    }
}

extension JSONValue {
    init(parsing bytes: some Sequence<UInt8>) throws {
        self = try Array(bytes).withUnsafeBytes { try JSONValue(parsing: $0) }
    }
}
