import Foundation
import HTTPTypes
import OAuth

/// A request whose client is known.
struct ClientRequest: Sendable {
    let exchange: Exchange
    let realm: Realm
    let client: Client

    var form: Parameters { exchange.form }
    var holder: Holder { Holder(client, at: realm) }

    /// The authentication contexts that the request claims.
    var contexts: [String] { ClaimsRequest(form["claims"]).contexts }

    /// Requires a confidential client to prove that it knows its secret (RFC 6749 section 2.3).
    init(authenticating exchange: Exchange, _ realm: Realm) throws {
        let basic = try Self.basicCredentials(exchange)
        self.exchange = exchange
        self.realm = realm
        client = try realm.client(basic?.id ?? exchange.form["client_id"])
        let secret = basic?.secret ?? exchange.form["client_secret"]
        guard secret.map(Secret.init) == client.secret.map(Secret.init) else { throw ProtocolError.clientSecret }
    }

    /// Requires a client that may use native authentication.
    init(native exchange: Exchange, _ realm: Realm) throws {
        self.exchange = exchange
        self.realm = realm
        client = try realm.client(exchange.form["client_id"])
        guard realm.policy == nil, client.isNativeEnabled else { throw ProtocolError.nativeDisabled }
    }

    private static func basicCredentials(_ exchange: Exchange) throws -> (id: String, secret: String)? {
        guard let header = exchange.headers[.authorization], header.lowercased().hasPrefix("basic ") else { return nil }
        guard let bytes = Data(base64Encoded: String(header.dropFirst(6))) else { throw ProtocolError.clientSecret }
        let halves = bytes.split(separator: UInt8(ascii: ":"), maxSplits: 1, omittingEmptySubsequences: false)
        guard halves.count == 2 else { throw ProtocolError.clientSecret }
        // RFC 6749 section 2.3.1: both halves are form-encoded before they are joined.
        let decoded = try halves.map { try Parameters(urlEncoded: Array("v=".utf8) + $0)["v"] ?? "" }
        return (decoded[0], decoded[1])
    }
}
