import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct IssuerTests {
    private static let authorities = [
        "/fabrikvine", "/tfp/fabrikvine/B2C_1_susi", "/fabrikvine/b2c_1_susi", "/tailspin.example",
    ]

    @Test(arguments: authorities)
    func `each issuer describes itself and lists at least two keys`(path: String) async throws {
        try await Site.open { site in
            let metadata = try await site.get(site.provider.baseURL + path + "/v2.0/.well-known/openid-configuration")
            let issuer = try metadata.text("issuer")
            let suffix =
                issuer.hasSuffix("/") ? ".well-known/openid-configuration" : "/.well-known/openid-configuration"
            #expect(try await site.get(issuer + suffix).text("issuer") == issuer)
            #expect(try metadata.text("token_endpoint").contains("/tfp/") == path.hasPrefix("/tfp/"))
            let keys = try await site.get(metadata.text("jwks_uri"))["keys"].array ?? []
            #expect(keys.count >= 2)
            let algorithm: JSONValue = path.contains("tailspin") ? "ES256" : "RS256"
            #expect(Set(keys.map { $0["alg"] }) == [algorithm])
            #expect(Set(keys.map { $0["use"] }) == ["sig"])
            #expect(keys.allSatisfy { $0["d"].isNull }, "a private key")
        }
    }

    @Test func `issuers share no key`() async throws {
        try await Site.open { site in
            let tenant = try await JWTCheck(site).keys().map { $0["kid"].text }
            let policy = try await JWTCheck(site, path: "/tfp/fabrikvine/b2c_1_susi").keys().map { $0["kid"].text }
            #expect(Set(tenant).isDisjoint(with: policy))
        }
    }

    @Test func `N70: after a rotation the next key signs and the old one is listed for a day`() async throws {
        try await Site.open { site in
            let old = try await site.signInWithPassword().text("id_token")
            let announced = try await JWTCheck(site).keys().compactMap { $0["kid"].text }
            try await site.provider.rotateKeys(tenant: "fabrikvine")
            let new = try await site.signInWithPassword().text("id_token")
            let header = try JSONValue(parsing: Answer.base64URL(String(new.prefix { $0 != "." })))
            #expect(header["kid"].text == announced[1])
            #expect(try await JWTCheck(site).verify(old))
            #expect(try await JWTCheck(site).verify(new))
            site.provider.clock.advance(by: 86_401)
            #expect(try await !JWTCheck(site).verify(old))
        }
    }

    @Test func `subjects differ by client and object ids do not`() async throws {
        try await Site.open { site in
            let first = try await site.signInWithPassword().claims(of: "id_token")
            let second = try await site.signInWithCode(Site.ana).claims(of: "id_token")
            #expect(first["oid"] == second["oid"])
            #expect(first["sub"] != second["sub"])
        }
    }

    @Test(arguments: ["/nobody/v2.0/.well-known/openid-configuration", "/tfp/fabrikvine/b2c_1_x/discovery/v2.0/keys"])
    func `an unknown tenant or policy is not found`(path: String) async throws {
        try await Site.open { (site: Site) async throws in
            #expect(try await site.get(site.provider.baseURL + path).status == 404)
        }
    }
}
