import HTTPTransport
import IssuerSupport
import OAuth
import OpenIDConnect
import Testing

/// Which issuer an authority may turn out to be, and what is fetched from it.
struct AuthorityDiscoveryTests {
    private static let tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47"
    private static let other = "9188040d-6c67-4c5b-b112-36a304b66dad"
    private static let entra = "https://login.microsoftonline.com"
    private static let b2c = "https://harbor.b2clogin.com"
    private static let limits = HTTPLimits(head: .seconds(60), total: .seconds(60), bodySize: 1 << 20)

    private func metadata(_ issuer: String, host: String, keys: String? = nil) throws -> IssuerMetadata {
        try IssuerMetadata(
            JSONValue.Object([
                ("issuer", .string(issuer)), ("token_endpoint", .string("https://\(host)/token")),
                ("jwks_uri", .string(keys ?? "https://\(host)/keys")),
            ])
        )
    }

    @Test func `an authorization endpoint with a fragment is refused`() throws {
        var document = JSONValue.Object([
            ("issuer", "https://i.example"), ("token_endpoint", "https://i.example/token"),
            ("authorization_endpoint", "https://i.example/a?b=c"),
        ])
        #expect(try IssuerMetadata(document).authorizationEndpoint == "https://i.example/a?b=c")
        document["authorization_endpoint"] = "https://i.example/a#b"
        #expect(throws: MetadataError.incomplete("an authorization_endpoint without a fragment")) {
            try IssuerMetadata(document)
        }
    }

    @Test(arguments: [
        ("\(entra)/common", "\(entra)/{tenantid}/v2.0"),
        ("\(entra)/organizations", "\(entra)/{tenantid}/v2.0"),
        ("\(entra)/consumers", "\(entra)/\(other)/v2.0"),
        ("\(entra)/\(tenant)", "\(entra)/\(tenant)/v2.0"),
        ("\(entra)/contoso.onmicrosoft.com", "\(entra)/\(tenant)/v2.0"),
        ("\(entra)/\(tenant)", "https://sts.windows.net/\(tenant)/"),
        ("\(b2c)/tfp/harbor.onmicrosoft.com/B2C_1_SI", "\(b2c)/\(tenant)/v2.0/"),
        ("\(b2c)/tfp/harbor.onmicrosoft.com/B2C_1_SI", "\(b2c)/tfp/\(tenant)/b2c_1_si/v2.0/"),
        ("\(b2c)/\(tenant)/B2C_1_SI", "\(b2c)/\(tenant)/v2.0/"),
        ("https://harbor.ciamlogin.com/", "https://\(tenant).ciamlogin.com/\(tenant)/v2.0"),
        ("https://harbor.ciamlogin.com/\(tenant)", "https://\(tenant).ciamlogin.com/\(tenant)/v2.0"),
        ("https://id.harbor.example/\(tenant)", "https://\(tenant).ciamlogin.com/\(tenant)/v2.0"),
        ("https://id.harbor.example/tfp/\(tenant)/B2C_1_SI", "https://id.harbor.example/\(tenant)/v2.0/"),
    ])
    func `metadata of a tenant or a user flow names its own issuer`(authority: String, issuer: String) throws {
        let authority = try Authority(parsing: authority)
        #expect(throws: Never.self) { try authority.check(metadata(issuer, host: authority.environment)) }
    }

    @Test(arguments: [
        ("\(entra)/\(tenant)", "\(entra)/\(other)/v2.0"),
        ("\(entra)/\(tenant)", "\(entra)/{tenantid}/v2.0"),
        ("\(entra)/contoso.onmicrosoft.com", "\(entra)/{tenantid}/v2.0"),
        ("\(entra)/common", "https://attacker.example/{tenantid}/v2.0"),
        ("\(entra)/common", "http://login.microsoftonline.com/{tenantid}/v2.0"),
        ("\(entra)/common", "https://login.microsoftonline.com@attacker.example/{tenantid}/v2.0"),
        ("\(entra)/common", "\(entra)"),
        ("\(entra)/common", "\(tenant)"),
        ("\(entra)/\(tenant)", "https://\(tenant).ciamlogin.com/\(tenant)/v2.0"),
        ("\(b2c)/tfp/harbor.onmicrosoft.com/B2C_1_SI", "https://other.b2clogin.com/\(tenant)/v2.0/"),
        ("\(b2c)/tfp/harbor.onmicrosoft.com/B2C_1_SI", "\(b2c)/tfp/\(tenant)/b2c_1_edit/v2.0/"),
        ("\(b2c)/\(tenant)/B2C_1_SI", "\(b2c)/\(other)/v2.0/"),
        ("https://harbor.ciamlogin.com/\(tenant)", "https://\(other).ciamlogin.com/\(other)/v2.0"),
        ("https://harbor.ciamlogin.com/\(tenant)", "https://\(other).ciamlogin.com/\(tenant)/v2.0"),
        ("https://harbor.ciamlogin.com/", "https://quay.ciamlogin.com/\(tenant)/v2.0"),
        ("https://login.example/evil", "https://login.example/victim"),
        ("https://login.example/\(tenant)", "https://login.example/victim/v2.0"),
    ])
    func `metadata of another issuer is refused`(authority: String, issuer: String) throws {
        let authority = try Authority(parsing: authority)
        #expect(throws: MetadataError.otherIssuer(wanted: authority.url, found: issuer)) {
            try authority.check(metadata(issuer, host: authority.environment))
        }
    }

    @Test(arguments: ["https://i.example/", "https://I.example", "https://i.example/a", "https://\u{131}.example"])
    func `an OpenID issuer is named exactly`(found: String) throws {
        let issuer = "https://i.example"
        #expect(throws: MetadataError.otherIssuer(wanted: issuer, found: found)) {
            try Authority(issuer: issuer).check(metadata(found, host: "i.example"))
        }
    }

    @Test(arguments: [("https://i.example", "https://i.example/"), ("https://i.example/", "https://i.example")])
    func `an issuer URL with a slash too many or too few is an error with the right one`(wanted: String, found: String)
        throws
    {
        let error = #expect(throws: MetadataError.self) {
            try Authority(issuer: wanted).check(metadata(found, host: "i.example"))
        }
        #expect(error?.problem == "the issuer names itself \(found), and every letter counts")
        #expect(error?.remedy == .correct("use this address"))
    }

    @Test(arguments: [
        ("\(entra)/common", "https://attacker.example/keys"), ("\(entra)/common", "http://127.0.0.1:8080/keys"),
        ("\(b2c)/\(tenant)/B2C_1_SI", "https://other.b2clogin.com/keys"),
        ("\(b2c)/\(tenant)/B2C_1_SI", "https://harbor.b2clogin.com:8443/keys"),
        ("\(b2c)/\(tenant)/B2C_1_SI", "https://harbor.b2clogin.com@attacker.example/keys"),
        ("\(b2c)/\(tenant)/B2C_1_SI", "http://harbor.b2clogin.com/keys"),
    ])
    func `keys at a host outside the authority are not fetched`(authority: String, keys: String) throws {
        let authority = try Authority(parsing: authority)
        let issuer = authority.userFlow == nil ? "\(Self.entra)/{tenantid}/v2.0" : "\(Self.b2c)/\(Self.tenant)/v2.0/"
        #expect(throws: MetadataError.foreignEndpoint(keys)) {
            try authority.check(metadata(issuer, host: authority.environment, keys: keys))
        }
    }

    @Test(arguments: ["http://i.example/keys", "http://127.0.0.1:8080/keys", "https://localhost/keys", "file:///keys"])
    func `keys of an OpenID issuer come over TLS, and not from this machine`(keys: String) throws {
        #expect(throws: MetadataError.foreignEndpoint(keys)) {
            try Authority(issuer: "https://i.example").check(
                metadata("https://i.example", host: "i.example", keys: keys)
            )
        }
    }

    @Test(
        arguments: [
            "authorization_endpoint", "device_authorization_endpoint", "revocation_endpoint", "end_session_endpoint",
            "jwks_uri",
        ],
        ["", .null] as [JSONValue]
    )
    func `an empty or null endpoint counts as absent`(name: String, value: JSONValue) throws {
        for authority in [try Authority(issuer: "https://i.example"), try Authority(parsing: "\(Self.entra)/common")] {
            let issuer = authority.issuer ?? "\(Self.entra)/{tenantid}/v2.0"
            var document = try metadata(issuer, host: authority.issuer == nil ? authority.environment : "i.example")
                .document
            document[name] = value
            let metadata = try IssuerMetadata(document)
            try authority.check(metadata)
            #expect(metadata.authorizationEndpoint == nil)
            #expect(metadata.deviceAuthorizationEndpoint == nil)
            #expect(metadata.revocationEndpoint == nil)
            #expect(metadata.endSessionEndpoint == nil)
            #expect((metadata.jwksURI == nil) == (name == "jwks_uri"))
        }
    }

    @Test(
        arguments: ["device_authorization_endpoint", "revocation_endpoint", "end_session_endpoint"],
        ["javascript:alert(1)", "/logout", "http://i.example/logout", "https://"]
    )
    func `an optional address that no request can be sent to counts as absent`(name: String, value: String) throws {
        var document = try metadata("https://i.example", host: "i.example").document
        document[name] = .string(value)
        let metadata = try IssuerMetadata(document)
        try Authority(issuer: "https://i.example").check(metadata)
        #expect(metadata.deviceAuthorizationEndpoint == nil)
        #expect(metadata.revocationEndpoint == nil)
        #expect(metadata.endSessionEndpoint == nil)
    }

    @Test func `a token endpoint that is empty is missing`() throws {
        let document = JSONValue.Object([("issuer", "https://i.example"), ("token_endpoint", "")])
        #expect(throws: MetadataError.incomplete("token_endpoint")) { try IssuerMetadata(document) }
    }

    @Test func `a hundred megabytes of keys are not read`() async throws {
        let size = 100 << 20
        let server = try RawServer(
            "HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n" + #"{"keys":[""# + String(repeating: " ", count: size)
        )
        defer { server.stop() }
        let discovery = MetadataDiscovery(transport: AsyncHTTPTransport(), limits: Self.limits)
        let host = "127.0.0.1:\(server.port)"
        await #expect(throws: HTTPTransportError.tooLarge(host: host, limit: Self.limits.bodySize)) {
            try await discovery.keys(at: server.url)
        }
    }

    @Test func `a byte order mark before metadata and before keys is ignored`() async throws {
        let server = try HandmadeIssuer()
        let issuer = server.issuer
        let metadata = #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#
        server.answer(.init("\u{FEFF}" + metadata), at: "/op/.well-known/openid-configuration")
        server.answer(.init("\u{FEFF}" + #"{"keys":[]}"#), at: "/op/keys")
        let discovery = MetadataDiscovery(transport: AsyncHTTPTransport(), limits: Self.limits)
        let found = try await discovery.metadata(of: Authority(issuer: issuer)).metadata
        #expect(found.issuer == issuer)
        let keys = try await discovery.keys(at: issuer + "/keys").keys
        #expect(keys["keys"]?.array?.isEmpty == true)
    }

    @Test(arguments: ["{}", #"{"keys":{}}"#]) func `a document without keys is not a key set`(document: String)
        async throws
    {
        let server = try RawServer(
            "HTTP/1.1 200 OK\r\nContent-Length: \(document.utf8.count)\r\n\r\n\(document)"
        )
        defer { server.stop() }
        let discovery = MetadataDiscovery(transport: AsyncHTTPTransport(), limits: Self.limits)
        await #expect(throws: MetadataError.incomplete("keys")) { try await discovery.keys(at: server.url) }
    }

    @Test func `keys are asked for by their own type too`() async throws {
        let server = try RawServer("HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\n{\"keys\":[]}")
        defer { server.stop() }
        let discovery = MetadataDiscovery(transport: AsyncHTTPTransport(), limits: Self.limits)
        _ = try await discovery.keys(at: server.url)
        let request = try #require(server.requests.first?.lowercased())
        #expect(request.contains("\r\naccept: application/json, application/jwk-set+json\r\n"))
    }

    @Test func `an address of keys that is wrong is not said to be an issuer's`() async throws {
        let server = try RawServer("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")
        defer { server.stop() }
        let discovery = MetadataDiscovery(transport: AsyncHTTPTransport(), limits: Self.limits)
        let error = await #expect(throws: MetadataError.self) { try await discovery.keys(at: server.url) }
        #expect(error == .noKeys(url: server.url, status: 404))
        #expect(error?.problem == "\(server.url) answered 404 and no keys, which the issuer says are there")
    }
}
