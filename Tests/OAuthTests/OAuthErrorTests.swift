import OAuth
import Testing

/// What is kept of the names that issuers give their errors.
struct OAuthErrorTests {
    private func read(_ name: String) -> OAuthError? {
        OAuthError(JSONValue.Object([("error", .string(name)), ("suberror", .string(name))]), status: 400)
    }

    @Test(arguments: ["moon_phase", "AADB2C90118", "a.b-c_D9", "0", String(repeating: "x", count: 64)])
    func `an issuer's own error code is kept`(name: String) throws {
        let error = try #require(read(name))
        #expect(error.code.rawValue == name)
        #expect(error.suberror == name)
    }

    @Test(arguments: [
        "bad token", "a/b", "a%2Fb", "rt=0", "\u{1B}[2J", "f\u{E4}lsch", "invalid_grant\n", "\u{212A}elvin",
        String(repeating: "x", count: 65),
    ])
    func `a malformed error code is an unknown error without suberror`(name: String) throws {
        let error = try #require(read(name))
        #expect(error == OAuthError(code: .unknown))
        #expect(error.problem == "the issuer answered unknown_error")
    }

    @Test func `an empty error code is not an error`() {
        #expect(read("") == nil)
    }
}
