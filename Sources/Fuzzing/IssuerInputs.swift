import HTTPTransport
import OAuth
import OpenIDConnect
import TokenStorage

/// An issuer that answers every request alike: with a status, header fields, an empty line and a body; where there is
/// no empty line, with a body alone.
struct CannedIssuer: HTTPTransport {
    private let response: HTTPResponse

    init(_ bytes: [UInt8]) {
        let separator = [UInt8(ascii: "\n"), UInt8(ascii: "\n")]
        guard let end = bytes.firstRange(of: separator) else {
            response = HTTPResponse(status: 200, body: Self.body(bytes[...]))
            return
        }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\n")
        let fields = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (String(line[..<colon]), String(value))
        }
        response = HTTPResponse(
            status: lines.first.flatMap { Int($0) } ?? 200,
            headers: HTTPHeaders(fields),
            body: Self.body(bytes[end.upperBound...])
        )
    }

    /// The body, where it is an object.
    var object: JSONValue.Object? { response.jsonObject() }

    private static func body(_ bytes: ArraySlice<UInt8>) -> Secret {
        bytes.withUnsafeBytes { Secret(copying: $0) }
    }

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse { response }
}

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
            let header: JSONValue = ["alg": .string(algorithm), "kid": "k"]
            let parts = [header, ["iss": "https://id.example/"]].map { Base64URL.encode($0.serialized.utf8) }
            let signature = Base64URL.encode(repeatElement(UInt8(1), count: count))
            return try IDToken(decoding: Secret((parts + [signature]).joined(separator: ".")))
        }
    }

    func run(_ bytes: [UInt8]) async throws {
        let issuer = CannedIssuer(bytes)
        let discovery = MetadataDiscovery(transport: issuer)
        var documents: [JSONValue.Object] = []
        for authority in authorities { documents += try await metadata(of: authority, by: discovery) }
        documents += try await keys(by: discovery)
        if let text = issuer.object?["issuer"]?.text { try checkAuthority(text) }
        for document in documents {
            let text = JSONValue.object(document).serialized
            try hold(try JSONValue(parsing: text) == .object(document), "a document written is the one read")
        }
    }

    /// An issuer's address that is accepted as an authority can be asked, and is one authority however it is written.
    private func checkAuthority(_ text: String) throws {
        for authority in [
            try unlessRefused(by: AuthorityError.self) { try Authority(issuer: text) },
            try unlessRefused(by: AuthorityError.self) { try Authority(parsing: text) },
        ].compactMap(\.self) {
            for url in authority.metadataURLs { try hold(WebAddress(secure: url) != nil, "\(url) can be asked") }
            let again = try authority.issuer.map { try Authority(issuer: $0) } ?? Authority(parsing: authority.url)
            try hold(again == authority, "\(text) and \(authority.url) are one authority")
        }
    }

    /// The document of an authority that it is accepted for.
    private func metadata(of authority: Authority, by discovery: MetadataDiscovery) async throws -> [JSONValue.Object] {
        do {
            let (metadata, lifetime) = try await discovery.metadata(of: authority)
            try hold((3_600...604_800).contains(lifetime), "metadata is kept for an hour to a week")
            let endpoints = [
                metadata.tokenEndpoint, metadata.authorizationEndpoint, metadata.deviceAuthorizationEndpoint,
                metadata.revocationEndpoint, metadata.endSessionEndpoint, metadata.jwksURI,
            ]
            for endpoint in endpoints.compactMap(\.self) {
                try hold(WebAddress(secure: endpoint) != nil, "\(endpoint) can be sent to")
            }
            return [metadata.document]
        } catch let error {
            _ = try unlessRefused(by: MetadataError.self, IssuerUnavailable.self) { throw error }
            return []
        }
    }

    private func keys(by discovery: MetadataDiscovery) async throws -> [JSONValue.Object] {
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

/// Answers of an issuer to what it is asked: tokens, device codes, errors; tokens are stored as any are.
struct TokenResponseInput: FuzzInput {
    private let scratch: ScratchStore
    private let requests: [TokenRequest]

    init() throws {
        scratch = try ScratchStore { _ in }
        requests = try [
            Authority(parsing: "https://login.microsoftonline.com/common"),
            Authority(parsing: "https://harbor.b2clogin.com/tfp/harbor.onmicrosoft.com/B2C_1_SI"),
            Authority(issuer: "https://id.example"),
        ].map { TokenRequest(clientID: "app", authority: $0, scope: "read openid", grant: .authorizationCode) }
    }

    func run(_ bytes: [UInt8]) async throws {
        let issuer = CannedIssuer(bytes)
        try await ask { form in
            let endpoint = DeviceAuthorizationEndpoint("https://id.example/device", transport: issuer)
            let device = try await endpoint.send(form, now: IDTokenInput.now)
            try hold(device.lifetime > .zero && device.interval > .zero, "codes live, and are asked for now and then")
        }
        try await ask { _ in
            let endpoint = RevocationEndpoint("https://id.example/revoke", transport: issuer)
            try await endpoint.revoke(Secret("refresh"), clientID: "app")
        }
        try await ask { form in
            let endpoint = TokenEndpoint("https://id.example/token", transport: issuer)
            let answer = try await endpoint.send(.refreshToken, form, now: IDTokenInput.now)
            guard answer.response.accessToken != nil || answer.response.refreshToken != nil else { return }
            try store(answer.response)
        }
    }

    /// Makes one request, which may end in a refusal.
    private func ask(_ body: (FormParameters) async throws -> Void) async throws {
        var form = FormParameters()
        form.append("client_id", "app")
        form.append("refresh_token", Secret("refresh"))
        do {
            try await body(form)
        } catch let error as OAuthError {
            _ = (error.meaning.isAboutToken, "\(error)")
            try hold(!"\(error)".contains("refresh="), "an error does not repeat what was sent")
        } catch let error {
            _ = try unlessRefused(
                by: IssuerUnavailable.self,
                UnusableAnswer.self,
                DeviceAuthorizationError.self,
                RevocationError.self
            ) { throw error }
        }
    }

    private func store(_ response: TokenResponse) throws {
        try scratch.restore()
        let store = try scratch.open()
        for request in requests {
            let saved = try unlessRefused(by: TokenStoreError.self) { try store.save(response, for: request) }
            guard let account = saved?.account else { continue }
            try hold(try store.accounts().contains { $0.id == account }, "an account that was saved is there")
        }
        try store.forEachAccount(withTokens: true) { _ in }
        let problems = try store.check()
        try hold(problems.isEmpty, "a store that took a response is sound, unlike \(problems)")
    }
}
