import Foundation
import LocalIdentityProvider
import TestSupport
import Testing

/// What a seed may not say, because no request could be answered by it.
struct SeedTests {
    /// What an API has besides its identifier and its path.
    private static let rest = #""audience":"x","scopes":[{"value":"R"}]"#

    private static func tenant(_ members: String) -> String { #"{"id":"t","domain":"t.example",\#(members)}"# }

    private func read(_ tenants: String...) throws -> Seed {
        try Seed(json: Data(#"{"tenants":[\#(tenants.joined(separator: ","))]}"#.utf8))
    }

    private func expectRefused(_ tenants: String..., with words: String) {
        let json = #"{"tenants":[\#(tenants.joined(separator: ","))]}"#
        let error = #expect(throws: StartError.self) { try Seed(json: Data(json.utf8)) }
        #expect(error.map { "\($0)".contains(words) } == true, "\(String(describing: error))")
    }

    @Test(arguments: [
        (#""users":[{"id":"u-1","email":"a@b.c"},{"id":"u-1","email":"d@b.c"}]"#, "id u-1"),
        (#""users":[{"email":"ana@b.c"},{"email":"Ana@B.C"}]"#, "e-mail address ana@b.c"),
        (#""clients":[{"id":"c-1"},{"id":"c-1"}]"#, "id c-1"),
        (#""policies":[{"name":"b2c_1_a"},{"name":"B2C_1_A"}]"#, "name b2c_1_a"),
        (#""attributes":[{"name":"badge"},{"name":"badge"}]"#, "name badge"),
        (
            #""resources":[{"identifier":"a","path":"api1",\#(Self.rest)},{"identifier":"a","path":"api2",\#(Self.rest)}]"#,
            "identifier a"
        ),
        (
            #""resources":[{"identifier":"a","path":"api1",\#(Self.rest)},{"identifier":"b","path":"api1",\#(Self.rest)}]"#,
            "path api1"
        ),
    ])
    func `a name that is there twice in a tenant is refused`(members: String, words: String) {
        expectRefused(Self.tenant(members), with: words)
    }

    @Test(arguments: [
        (#"{"id":"t-2","domain":"T.example"}"#, "name T.example"), (#"{"id":"t","domain":"u.example"}"#, "name t"),
        (#"{"id":"t-2","domain":"u.example","users":[{"id":"u-1","email":"d@b.c"}]}"#, "id u-1"),
    ])
    func `a name that is there twice among tenants is refused`(second: String, words: String) {
        expectRefused(Self.tenant(#""users":[{"id":"u-1","email":"a@b.c"}]"#), second, with: words)
    }

    @Test func `tenants may have the same clients, policies, addresses and first label`() throws {
        let members = #""clients":[{"id":"c"}],"policies":[{"name":"p"}],"users":[{"email":"a@b.c"}]"#
        #expect(try read(Self.tenant(members), #"{"id":"t-2","domain":"t.test",\#(members)}"#).tenants.count == 2)
    }

    @Test func `an address is another person's where another provider checks who that is`() throws {
        let users = ["facebook.com", "google.com"].map { #"{"email":"a@b.c","identityProvider":"\#($0)"}"# }
        let tenant = Self.tenant(#""users":[{"email":"a@b.c"},\#(users.joined(separator: ","))]"#)
        #expect(try read(tenant).tenants[0].users.count == 3)
    }

    @Test func `an API at a path that is not served is refused`() {
        let resource = #"{"identifier":"api://a","audience":"x","path":"api3","scopes":[{"value":"R"}]}"#
        expectRefused(Self.tenant(#""resources":[\#(resource)]"#), with: "path api3 of api://a is not api1 or api2")
    }

    @Test(arguments: ["accessTokenLifetime", "refreshTokenLifetime"], [Int.min, -1, 315_360_001, .max])
    func `a lifetime below zero or above ten years is refused by name`(name: String, seconds: Int) {
        let tenant = Self.tenant(#""policies":[{"name":"p","\#(name)":\#(seconds)}]"#)
        expectRefused(tenant, with: "\(name) of p is \(seconds), not 0 to 315360000")
    }

    @Test(arguments: [Int.min, -1, 86_400_001, .max])
    func `a wait for claims below zero or above a day is refused by name`(milliseconds: Int) {
        let provider = #"{"url":"http://127.0.0.1:9/","timeoutMilliseconds":\#(milliseconds)}"#
        let tenant = Self.tenant(#""clients":[{"id":"c","claimsProvider":\#(provider)}]"#)
        expectRefused(tenant, with: "timeoutMilliseconds of c is \(milliseconds), not 0 to 86400000")
    }

    @Test(arguments: [0, 315_360_000])
    func `tokens are signed with the shortest and the longest lifetime`(seconds: Int) async throws {
        let policy = #"{"name": "b2c_1_susi", "accessTokenLifetime": \#(seconds), "refreshTokenLifetime": \#(seconds)}"#
        let text = Seed.standardJSON.replacing(#"{"name": "b2c_1_susi"}"#, with: policy)
        try await Site.open(seed: Seed(json: Data(text.utf8))) { (site: Site) async throws in
            let visitor = StepwiseBrowser(site)
            try await visitor.open(site.authorizeURL(site.susi))
            let code = try await visitor.signIn().location("code")
            let tokens = try await site.redeem(code, site.susi)
            #expect(try tokens.text("expires_in") == "\(seconds)")
        }
    }
}
