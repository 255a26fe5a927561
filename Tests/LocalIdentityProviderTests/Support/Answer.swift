import Foundation
import IssuerSupport
import LocalIdentityProvider

/// One HTTP answer.
struct Answer: Sendable, CustomStringConvertible {
    let status: Int
    let headers: [(String, String)]
    let body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }
    var description: String { "\(status) \(text)" }

    func header(_ name: String) -> String? { headers.first { $0.0 == name }?.1 }

    subscript(name: String) -> JSON? {
        (try? JSON(parsing: body))?[name]  // no JSON has no members
    }

    func text(_ name: String) throws -> String {
        guard let text = self[name]?.text else { throw ExpectationFailure("\(name) in \(self)") }
        return text
    }

    var token: String { get throws { try text("continuation_token") } }
    var error: String? { self["error"]?.text }
    var suberror: String? { self["suberror"]?.text }
    var number: Int? { self["error_codes"]?.elements?.first?.whole }

    /// The claims of a token in the answer, unverified.
    func claims(of name: String) throws -> JSON { try Self.claims(in: text(name)) }

    static func claims(in token: String) throws -> JSON {
        let parts = token.split(separator: ".")
        guard parts.count == 3 else { throw ExpectationFailure("a token") }
        return try JSON(parsing: base64URL(String(parts[1])))
    }

    static func base64URL(_ text: String) throws -> Data {
        var text = text.replacing("-", with: "+").replacing("_", with: "/")
        text += String(repeating: "=", count: (4 - text.count % 4) % 4)
        guard let data = Data(base64Encoded: text) else { throw ExpectationFailure("base64url") }
        return data
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
