import HTTPTransport
import OAuth
import OpenIDConnect

/// What issuers publish, metadata and keys, as one document with the members of both.
struct DiscoveryInput: FuzzInput {
    private let authorities: [Authority]
    private let tokens: [IDToken]

    init() throws {
        authorities = [
            try Authority(issuer: "https://id.example/"),
            try Authority(issuer: "http://127.0.0.1:8080"),
            try Authority(parsing: "https://login.microsoftonline.com/common"),
            try Authority(parsing: "https://harbor.b2clogin.com/tfp/harbor.onmicrosoft.com/B2C_1_SI"),
            try Authority(parsing: "https://harbor.ciamlogin.com/"),
        ]
        let algorithms = [
            ("RS256", 256), ("PS512", 256), ("ES256", 64), ("ES384", 96), ("ES512", 132), ("EdDSA", 64),
        ]
        tokens = try algorithms.map { algorithm, count in
            let header: JSON = ["alg": .string(algorithm), "kid": "k"]
            let parts = [header, ["iss": "https://id.example/"]].map { Base64URL.encode($0.serialized.utf8) }
            let signature = Base64URL.encode(repeatElement(UInt8(1), count: count))
            return try IDToken(decoding: Secret((parts + [signature]).joined(separator: ".")))
        }
    }

    func run(_ bytes: [UInt8]) async throws {
        let issuer = CannedIssuer(bytes)
        let discovery = MetadataDiscovery(transport: issuer)
        var documents: [JSON.Object] = []
        for authority in authorities { documents += try await metadata(of: authority, by: discovery) }
        documents += try await keys(by: discovery)
        if let text = issuer.object?["issuer"]?.text { try checkAuthority(text) }
        for document in documents {
            let text = JSON.object(document).serialized
            try hold(try JSON(parsing: text) == .object(document), "a document written is the one read")
        }
    }

    /// An issuer's address that is accepted as an authority can be asked, and is one authority however it is written.
    private func checkAuthority(_ text: String) throws {
        for authority in [
            try unlessRefused(by: AuthorityError.self) { try Authority(issuer: text) },
            try unlessRefused(by: AuthorityError.self) { try Authority(parsing: text) },
        ].compactMap(\.self) {
            for url in authority.metadataURLs { try hold(HTTPAddress(url) != nil, "\(url) can be asked") }
            let again = try authority.issuer.map { try Authority(issuer: $0) } ?? Authority(parsing: authority.url)
            try hold(again == authority, "\(text) and \(authority.url) are one authority")
        }
    }

    /// The document of an authority that it is accepted for.
    private func metadata(of authority: Authority, by discovery: MetadataDiscovery) async throws -> [JSON.Object] {
        do {
            let (metadata, lifetime) = try await discovery.metadata(of: authority)
            try hold((3_600...604_800).contains(lifetime), "metadata is kept for an hour to a week")
            let endpoints = [
                metadata.tokenEndpoint, metadata.authorizationEndpoint, metadata.deviceAuthorizationEndpoint,
                metadata.revocationEndpoint, metadata.endSessionEndpoint, metadata.jwksURI,
            ]
            for endpoint in endpoints.compactMap(\.self) {
                try hold(HTTPAddress(endpoint) != nil, "\(endpoint) can be sent to")
            }
            return [metadata.document]
        } catch let error {
            _ = try unlessRefused(by: MetadataError.self, IssuerUnavailable.self) { throw error }
            return []
        }
    }

    private func keys(by discovery: MetadataDiscovery) async throws -> [JSON.Object] {
        do {
            let document = try await discovery.keys(at: "https://id.example/keys").keys
            let keys = JSONWebKeySet(document)
            let validator = IDTokenValidator(issuer: "https://id.example/", clientID: "app")
            for token in tokens {
                _ = keys.isOutdated(for: token)
                _ = try unlessRefused(by: IDTokenFlaw.self) { try validator.checkSignature(of: token, keys: keys) }
            }
            return [document]
        } catch let error {
            _ = try unlessRefused(by: MetadataError.self, IssuerUnavailable.self) { throw error }
            return []
        }
    }
}
