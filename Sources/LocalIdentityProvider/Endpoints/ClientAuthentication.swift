import Foundation
import HTTPTypes
import OAuth

/// Who calls the token, revocation and introspection endpoints (RFC 6749 section 2.3).
struct ClientAuthentication: Sendable {
    let realm: Realm

    /// The calling client; a confidential one has proved it knows its secret.
    func client(_ exchange: Exchange) throws -> Client {
        let basic = try Self.basicCredentials(exchange)
        let client = try realm.client(basic?.id ?? exchange.form["client_id"])
        let secret = basic?.secret ?? exchange.form["client_secret"]
        guard let expected = client.secret else {
            guard secret == nil else { throw Self.refused }
            return client
        }
        guard let secret, Secret(secret) == Secret(expected) else { throw Self.refused }
        return client
    }

    static var refused: ProtocolError {
        var error = ProtocolError(
            "invalid_client",
            ErrorNumber.clientSecret,
            "The client secret is missing, wrong or not this client's to have.",
            status: 401
        )
        error.headers["www-authenticate"] = #"Basic realm="local-idp""#
        return error
    }

    private static func basicCredentials(_ exchange: Exchange) throws -> (id: String, secret: String)? {
        guard let header = exchange.headers[.authorization], header.lowercased().hasPrefix("basic ") else { return nil }
        guard let bytes = Data(base64Encoded: String(header.dropFirst(6))) else { throw refused }
        let halves = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { throw refused }
        // RFC 6749 section 2.3.1: both halves are form-encoded before they are joined.
        let decoded = try halves.map { try Parameters(urlEncoded: Array("v=".utf8) + $0)["v"] ?? "" }
        return (decoded[0], decoded[1])
    }
}
