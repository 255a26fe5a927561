import Foundation

/// The people signed in at one browser, most recent first.
struct BrowserSession: Sendable {
    struct Account: Sendable, Hashable {
        let tenantID: String
        let signedIn: SignedIn
    }

    var accounts: [Account] = []
    var expires: Date
}
