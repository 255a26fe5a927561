import HTTPTransport
import Logging
public import OAuth
import OpenIDConnect
package import TokenStorage

extension TokenManager {
    /// Signs an account out of this client: revokes its refresh tokens at the issuer, then removes them.
    ///
    /// It waits for a refresh under way, and revokes the new tokens too. Doing it twice is not an error. A sign-out
    /// from this device alone does not contact the issuer and waits for no refresh, which does not restore the account.
    /// Both wait, up to `StoreOptions.busyTimeout`, for who reads the file just then, so that the old rows are in no
    /// log.
    ///
    /// - Returns: the result of the revocation; the account is removed even if that failed.
    /// - Throws: `TokenStoreError` where the store cannot be written, whose problem says so if the issuer has ended the
    ///   session by then; `CancellationError` where the task was cancelled before anything was done.
    @discardableResult
    public func signOut(_ account: Account.ID, _ place: SignOutScope = .everywhere) async throws -> SignOutReport {
        let outcome = try await signOut(account, ofClients: [clientID], place)
        return outcome.reports.first?.report ?? .nothingToRevoke
    }

    /// Signs an account out of `clients`, or of all there are, in one commit.
    package func signOut(
        _ account: Account.ID,
        ofClients clients: [String]?,
        _ place: SignOutScope = .everywhere
    ) async throws -> SignOutOutcome {
        let known = try await store.perform { store in
            try store.takeInAnswers()
            return try clients ?? store.clientIDs(of: account)
        }
        guard place == .everywhere else {
            let removed = try await store.performRemoval { try $0.signOut(account, clients: clients) }
            return SignOutOutcome(reports: known.map { ($0, SignOutReport.localOnly) }, erasure: removed.erasure)
        }
        var locks: [RefreshLock] = []
        do {
            try await takeLocks(of: account, clients: known, into: &locks)
            let outcome = try await endSessions(of: account, ofClients: clients, known)
            await locks.release()
            return outcome
        } catch let error as TokenStoreError where [.unreachable, .busy].contains(error.code) {
            // The server did not answer, so this does not wait for it again; a lock that is kept there ends by itself.
            Task { [locks] in await locks.release() }
            throw error
        } catch {
            await locks.release()
            throw error
        }
    }

    /// Revokes what there is to revoke of `known`, and deletes the account at `clients`, or at all there are.
    private func endSessions(
        of account: Account.ID,
        ofClients clients: [String]?,
        _ known: [String]
    ) async throws -> SignOutOutcome {
        let found = try await revocableTokens(of: account, known)
        let tokens = found.tokens
        let revocation = tokens.isEmpty ? .nothing : try await revocation(of: account)
        // Until here nothing was done; from here on all of it is, even if the task is cancelled.
        try Task.checkCancellation()
        let ended = try await Task { try await end(tokens, of: account, ofClients: clients, by: revocation) }.value
        var reports = ended.reports
        for client in found.damagedClients { reports[client.folded] = .failed("what the store has of it is damaged") }
        return SignOutOutcome(
            reports: known.map { ($0, reports[$0.folded] ?? .nothingToRevoke) },
            erasure: ended.erasure
        )
    }

    /// Revokes `tokens`, and deletes the account.
    private func end(
        _ tokens: [StoredRefreshToken],
        of account: Account.ID,
        ofClients clients: [String]?,
        by revocation: Revocation
    ) async throws -> (reports: [String: SignOutReport], erasure: Erasure) {
        var reports = await revocation.revoke(tokens)
        let removed: (deleted: [StoredRefreshToken], erasure: Erasure)
        do {
            removed = try await store.performRemoval { try $0.signOut(account, clients: clients) }
        } catch let error as TokenStoreError where reports.values.contains(.revoked) {
            throw error.afterRevocation()
        }
        // A sign-in that came in the meantime is deleted with the rest, and so ends at the issuer as well.
        let late = removed.deleted.filter { token in !tokens.contains { $0.secret == token.secret } }
        reports.merge(await revocation.revoke(late)) { $1 }
        return (reports, removed.erasure)
    }

    private func revocableTokens(of account: Account.ID, _ clients: [String]) async throws -> RevocableTokens {
        try await store.performRead { try $0.revocableTokens(of: account, clients: clients) }
    }

    /// Takes the right to refresh, first for all clients and then for their families, as a refresh takes them; without
    /// what others do not let go of: a refresh that goes on sees that the account is gone, and revokes its new token
    /// itself.
    private func takeLocks(
        of account: Account.ID,
        clients: [String],
        into locks: inout [RefreshLock]
    ) async throws {
        // A process that has been stopped is not waited for longer than a refresh may take.
        let patience = options.longestRefresh + .seconds(2)
        do {
            for client in Set(clients.map(\.folded)).sorted() {
                locks.append(try await store.refreshLock(of: account, for: .client(client), patience: patience))
            }
            let families = try await revocableTokens(of: account, clients).tokens.compactMap(\.familyID)
            for family in Set(families).sorted() {
                locks.append(try await store.refreshLock(of: account, for: .family(family), patience: patience))
            }
        } catch let error as TokenStoreError where error.code == .busy {
            options.logger.info("a refresh was not waited for", metadata: ["reason": "\(error)"])
        }
    }

    private func revocation(of id: Account.ID) async throws -> Revocation {
        guard let account = try await store.performRead({ try $0.account(id) }) else { return .nothing }
        do {
            let authority = try Authority(of: account, requested: nil)
            let (transport, limits, longest) = (transport, options.limits, options.longestRefresh)
            // A transport without limits would hold the account for ever: a sign-out cannot be cancelled once begun.
            let documents = documents(of: authority, over: BoundedTransport(transport, end: .now + longest))
            guard let url = try await documents.endpoint(\.revocationEndpoint) else { return .notOffered }
            let endpoint = { @Sendable in
                RevocationEndpoint(url, transport: BoundedTransport(transport, end: .now + longest), limits: limits)
            }
            return .endpoint(endpoint, options.logger)
        } catch {
            // A transport may throw any error where the task was cancelled.
            try Task.checkCancellation()
            options.logger.info("no refresh token was revoked", metadata: ["reason": "\(error)"])
            return .failed(error.reason)
        }
    }
}

/// What became of an account's sessions at the issuer, by client, and of their bytes on the disk.
package struct SignOutOutcome: Sendable {
    package let reports: [(client: String, report: SignOutReport)]
    package let erasure: Erasure
}

/// How an account's refresh tokens are revoked, or why they are not.
private enum Revocation: Sendable {
    case endpoint(@Sendable () -> RevocationEndpoint, Logger)
    case nothing
    case notOffered
    case failed(String)

    /// What became of the tokens, by client, folded; the first failure of a client is its report.
    func revoke(_ tokens: [StoredRefreshToken]) async -> [String: SignOutReport] {
        // All at once: each may take as long as a request may take.
        let outcomes = await withTaskGroup(of: (Int, SignOutReport).self) { group in
            for (index, token) in tokens.enumerated() { group.addTask { (index, await revoke(token)) } }
            return await group.reduce(into: [:]) { outcomes, outcome in outcomes[outcome.0] = outcome.1 }
        }
        var reports: [String: SignOutReport] = [:]
        for (index, token) in tokens.enumerated() {
            if case .failed = reports[token.clientID.folded] { continue }
            reports[token.clientID.folded] = outcomes[index]
        }
        return reports
    }

    private func revoke(_ token: StoredRefreshToken) async -> SignOutReport {
        switch self {
        case .nothing: return .nothingToRevoke
        case .notOffered: return .notOffered
        case .failed(let reason): return .failed(reason)
        case .endpoint(let endpoint, let logger):
            do {
                try await endpoint().revoke(token.secret, clientID: token.clientID)
                return .revoked
            } catch {
                logger.info("a refresh token was not revoked", metadata: ["reason": "\(error)"])
                return .failed(error.reason)
            }
        }
    }
}

/// Where a sign-out ends the session.
public enum SignOutScope: String, Sendable {
    /// At the issuer, where that revokes tokens, and on this device.
    case everywhere

    /// On this device alone; the issuer is not contacted, and the session there ends by itself.
    case thisDevice
}

/// What became of the session at the issuer when an account signed out.
public enum SignOutReport: Hashable, Sendable {
    /// The issuer was told of each refresh token, and takes none of them any more.
    case revoked

    /// There was no refresh token to revoke.
    case nothingToRevoke

    /// The issuer has no revocation endpoint.
    case notOffered

    /// The issuer was not to be asked.
    case localOnly

    /// A refresh token was not revoked, for this reason: the issuer did not answer or refused, or what the store had of
    /// the token is damaged, so that the issuer was not asked. The session there ends by itself.
    case failed(String)

    /// Whether the issuer may go on taking refresh tokens that the sign-out was to revoke.
    public var mayLast: Bool {
        switch self {
        case .failed, .notOffered: true
        case .revoked, .nothingToRevoke, .localOnly: false
        }
    }
}

extension Error {
    /// What went wrong, without advice: the account is signed out here by then, and nothing is left to be tried again.
    fileprivate var reason: String { (self as? any CodedErrorFacts)?.problem ?? "\(self)" }
}
