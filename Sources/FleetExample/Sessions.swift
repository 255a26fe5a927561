import Crypto
import Foundation
import Hummingbird
import TokenStoreKit

/// One browser in which a person is signed in; its cookie holds this, sealed, and no token.
struct Session: Codable {
    let account: Account.ID

    /// A random text, made anew by each sign-in, so that a value fixed beforehand is worth nothing.
    let id: String

    /// The note of the account that the session is not over.
    fileprivate var tag: String { Self.tags + id }
    fileprivate static let tags = "session:"
}

/// The sessions of the app: a tag of the account in the store for each, which every process sees at once.
struct Sessions: Sendable {
    private static let hours = 12

    let store: TokenStore
    let cookies: SealedCookies

    /// Begins a session in the browser that a sign-in came back to, and ends the one that was there.
    func begin(for account: Account, in request: Request) async throws -> Cookie {
        if let old = session(in: request) { try await end(old) }
        let random = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64URL }
        let session = Session(account: account.id, id: random)
        let now = Date().timeIntervalSince1970
        let end = Int(now) + Self.hours * 3_600
        try await store.changeTags(of: account.id) { tags in
            tags = tags.filter { name, end in !name.hasPrefix(Session.tags) || Self.isAhead(end, of: now) }
            tags[session.tag] = "\(end)"
        }
        return try cookies.cookie(.session, JSONEncoder().encode(session), seconds: Self.hours * 3_600)
    }

    /// Who is signed in in the browser; nil also where the session or the account has ended on another process.
    func find(in request: Request) async throws -> (session: Session, account: Account)? {
        guard let session = session(in: request) else { return nil }
        let end = try await store.tags(of: session.account)[session.tag]
        guard let end, Self.isAhead(end, of: Date().timeIntervalSince1970) else { return nil }
        return try await store.account(session.account).map { (session, $0) }
    }

    /// Ends all sessions of an account.
    func endAll(of account: Account) async throws {
        try await store.changeTags(of: account.id) { tags in
            tags = tags.filter { name, _ in !name.hasPrefix(Session.tags) }
        }
    }

    private func end(_ session: Session) async throws {
        guard try await !store.tags(of: session.account).isEmpty else { return }
        try await store.changeTags(of: session.account) { $0[session.tag] = nil }
    }

    private func session(in request: Request) -> Session? {
        guard let contents = cookies.contents(.session, of: request) else { return nil }
        // Sealed by another version of the app, it is no session.
        return try? JSONDecoder().decode(Session.self, from: contents)
    }

    private static func isAhead(_ end: String, of now: TimeInterval) -> Bool {
        Int(end).map { Double($0) > now } ?? false
    }
}
