import Crypto
import OAuth
import Synchronization
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The one redemption of the answer to a sign-in, of all that the processes on a store begin: a browser that loads the
/// page again, or a proxy that repeats the request, brings the same answer twice.
///
/// An issuer that is sent a code twice ends the session that the first time brought
/// ([RFC 6749 §4.1.2](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2)).
final class Redemption: Sendable {
    /// What is kept of one.
    private enum State: String {
        case underWay
        case done
        case failed
    }

    /// How long one waits for another that is under way.
    private static let patience = Duration.seconds(10)

    /// After how many seconds one that is under way has died, or could not say how it ended.
    private static let longest: Int64 = 60

    private let store: TokenStore
    private let state: Secret
    private let end: Date

    /// What is kept of this one; nil where none is under way.
    private let kept = LockedValue<JSONValue.Object?>(nil)

    init(of pending: PendingAuthorization, in store: TokenStore) {
        (self.store, state, end) = (store, pending.state, pending.end)
    }

    /// What it is kept as; no issuer's document has such a name, and the state cannot be told from it.
    private var name: String { "signed in: " + state.withUnsafeBytes { Base64URL.encode(SHA256.hash(data: $0)) } }

    /// Begins it, before anything is sent, unless the answer was redeemed before.
    ///
    /// - Returns: who signed in by the same answer before; nil: it is to be redeemed now.
    /// - Throws: ``SignInError``, `TokenStoreError`, `CancellationError`; nothing is to be sent then.
    func begin(_ code: Secret) async throws -> Account.ID? {
        var claim = Self.document(.underWay)
        claim["since"] = .number("\(store.options.now().unixSeconds)")
        claim["claim"] = .string(Secret.random().reveal())
        // Who comes with another code may be another person. The code cannot be told from it.
        claim["answer"] = .string(
            state.withUnsafeBytes { key in
                code.withUnsafeBytes {
                    Base64URL.encode(HMAC<SHA256>.authenticationCode(for: $0, using: SymmetricKey(data: key)))
                }
            }
        )
        while try await !take(claim) {
            if let account = try await account(by: claim["answer"]) { return account }
        }
        guard !Task.isCancelled else {
            await release()
            throw CancellationError()
        }
        return nil
    }

    private func take(_ claim: JSONValue.Object) async throws -> Bool {
        let isOurs = try await store.perform { [name, lifetime] in
            try $0.claimIssuerDocument(claim, url: name, lifetime: lifetime)
        }
        if isOurs { kept.withLock { $0 = claim } }
        return isOurs
    }

    /// Ends one that has sent nothing: another may begin.
    func release() async {
        guard kept.withLock({ $0.take() }) != nil else { return }
        await keep(JSONValue.Object(), for: 0)
    }

    /// Ends the redemption with the account that signed in, or with none; does nothing unless one is under way.
    func end(_ account: Account.ID?) async {
        guard let claim = kept.withLock({ $0.take() }) else { return }
        var document = Self.document(account == nil ? .failed : .done)
        document["answer"] = claim["answer"]
        if let account { document["account"] = .array([.string(account.issuer), .string(account.homeAccountID)]) }
        await keep(document, for: lifetime)
    }

    /// Until no process takes the answer any more, however their clocks differ by a minute.
    private var lifetime: Int64 { max(0, end.unixSeconds - store.options.now().unixSeconds) + 60 }

    /// What is kept keeps others from trying as well; a sign-in that is stored does not fail for it.
    private func keep(_ document: JSONValue.Object, for lifetime: Int64) async {
        do {
            try await store.perform { [name] in
                try $0.saveIssuerDocument(document, url: name, lifetime: lifetime)
            }
        } catch {}
    }

    /// Who signed in by the same answer, once that is known; nil where it was not redeemed after all.
    private func account(by answer: JSONValue?) async throws -> Account.ID? {
        let start = ContinuousClock.now
        while let found = try await store.performRead({ [name] in try $0.issuerDocument(name) }) {
            guard found["answer"] == answer else { throw SignInError.answerUsed }
            switch found["state"]?.text.flatMap(State.init) {
            case .done:
                guard let parts = found["account"]?.array?.compactMap(\.text), parts.count == 2 else {
                    throw SignInError.answerUsed
                }
                return Account.ID(issuer: parts[0], homeAccountID: parts[1])
            case .underWay:
                // The code may be spent.
                let age = store.options.now().unixSeconds - (found["since"]?.seconds ?? 0)
                guard age < Self.longest else { throw SignInError.answerUsed }
                guard start.duration(to: .now) < Self.patience else { throw SignInError.beingFinished }
                try await Task.sleep(for: .milliseconds(100))
            case .failed, nil: throw SignInError.answerUsed
            }
        }
        return nil
    }

    private static func document(_ state: State) -> JSONValue.Object {
        JSONValue.Object([("state", .string(state.rawValue))])
    }
}
