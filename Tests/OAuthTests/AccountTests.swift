import Foundation
import OAuth
import Testing

/// An account and its id, as an app has them.
struct AccountTests {
    private static let id = Account.ID(issuer: "https://login.example.org", homeAccountID: "aB")

    @Test func `an id is encoded as its two members, and decoded to an equal one`() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data = try encoder.encode(Self.id)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text == #"{"homeAccountID":"aB","issuer":"https://login.example.org"}"#)
        let decoded = try JSONDecoder().decode(Account.ID.self, from: data)
        #expect(decoded == Self.id)
        #expect(decoded != Self.id.named("Ab"))
    }

    @Test func `an app makes an account for a preview`() {
        let account = Account(id: Self.id, environment: "login.example.org", username: "ana@example.org", name: "Ana")
        #expect(account.id == Self.id)
        #expect(account.issuer == Self.id.issuer)
        #expect(account.name == "Ana")
        #expect(account.tenantProfiles.isEmpty)
        let entra = Account.ID(issuer: "login.microsoftonline.com", homeAccountID: "u.t")
        #expect(Account(id: entra, environment: "login.microsoftonline.com", username: "").issuer == nil)
    }
}
