import Database
import OAuth
import SQL
import Synchronization

/// What a sign-in on a server takes for granted, so that all of it is sent at once and the commit alone is waited for.
///
/// The account is new, and what the store says of itself, of its keys and of the client is what it said last. The
/// server looks whether that is so, in the same transaction, and refuses all of it if not. Then the sign-in begins
/// again, and asks before it writes.
struct Presumption {
    let account: Account.ID

    /// By which a sign-out of the account would be remembered.
    let mark: [UInt8]
    let client: KnownClient

    /// The row of the client as it was sealed, which is new each time that it is written.
    let sealedClient: [UInt8]
}

/// What a sign-in has to say of its client.
struct KnownClient: Hashable {
    let fold: String
    let environment: String
    let family: String?
}

/// What the sign-ins of this process on a server have shown, by which the next ones go.
final class SignInExperience: Sendable {
    private struct State {
        /// From 0 to 3; at 3 the next person is thought to be new.
        ///
        /// To be wrong costs more than to ask: one who comes back counts twice.
        var newcomers = 3
        var clients: [KnownClient: [UInt8]] = [:]

        /// How many sign-ins are under way that have not decided whether they tell the other nodes.
        var undecided = 0
        var toldAt: ContinuousClock.Instant?
    }

    private let state = LockedValue(State())

    /// The row of a client, as it was sealed when a sign-in found nothing to change in it.
    func sealedRow(of client: KnownClient) -> [UInt8]? { state.withLock { $0.clients[client] } }

    /// An app has few clients.
    private static let clientLimit = 64

    func learn(_ client: KnownClient, sealed: [UInt8]) {
        state.withLock { state in
            if state.clients.count >= Self.clientLimit { state.clients = [:] }
            state.clients[client] = sealed
        }
    }

    var expectsNewcomers: Bool { state.withLock { $0.newcomers == 3 } }

    func learn(isNewcomer: Bool) {
        state.withLock { $0.newcomers = isNewcomer ? min($0.newcomers + 1, 3) : max($0.newcomers - 2, 0) }
    }

    // MARK: - Telling the other nodes

    /// So soon after a message another one is left to a later sign-in.
    private static let shortestSilence = Duration.milliseconds(5)

    /// The part of one sign-in in telling the other nodes of newcomers.
    ///
    /// No node has anything of a new account in memory: a message only wakes those who follow the changes, and they read
    /// all that is there. So where several people sign in at once, a sign-in leaves the telling to one that decides later.
    /// That one may fail, or commit first: then the next look at the record of use, a second later at most, finds what was
    /// not told.
    final class Turn {
        private let experience: SignInExperience
        private var isDecided = false

        init(_ experience: SignInExperience) {
            self.experience = experience
            experience.state.withLock { $0.undecided += 1 }
        }

        deinit { leave() }

        /// Whether this sign-in is the one to tell.
        func isToTell(at now: ContinuousClock.Instant = .now) -> Bool {
            leave()
            return experience.state.withLock { state in
                if state.undecided > 0, let toldAt = state.toldAt, now - toldAt < SignInExperience.shortestSilence {
                    return false
                }
                state.toldAt = now
                return true
            }
        }

        private func leave() {
            guard !isDecided else { return }
            isDecided = true
            experience.state.withLock { $0.undecided -= 1 }
        }
    }
}

extension StoreConnection {
    /// What the sign-in of `account` that `answer` is of may take for granted; nil where it has to ask first.
    func presumption(for answer: PendingAnswer, of account: Account.ID?) -> Presumption? {
        guard let account, let experience, experience.expectsNewcomers, keyRing != nil, let markKey,
            case .server(let server) = connection.engine,
            // A session that is shared, or rows on several machines, cannot be looked for after a commit that was lost.
            server.address.pooler == .none, !server.spreadsRows
        else { return nil }
        let client = KnownClient(
            fold: answer.request.clientID.folded,
            environment: answer.request.authority.environment,
            family: answer.response.familyID
        )
        guard let sealed = experience.sealedRow(of: client) else { return nil }
        return Presumption(account: account, mark: markKey.mark(of: account), client: client, sealedClient: sealed)
    }

    /// Has the server look whether a presumption is right, behind which what is written does not happen otherwise.
    ///
    /// - Returns: the data key.
    func require(_ presumption: Presumption) throws -> Int64 {
        let (key, markKey) = (Int64(try keys().currentID), markKey?.sealed ?? [])
        let values: [Value] = [
            .integer(key), .blob(header.storeID), .integer(Int64(options.serverSchema.version)), .blob(markKey),
            .blob(presumption.mark), .text(presumption.client.fold), .text(presumption.client.environment),
            .blob(presumption.sealedClient), .text(presumption.account.key), .text(presumption.account.issuer),
        ]
        // Who purges everything, moves the keys or the store holds a table: what is seen next is then what they have left.
        // Like a migration, which changes the others, it begins with the store.
        try connection.run("SELECT 1 FROM store s, data_key k, account a WHERE false FOR SHARE")
        try connection.run(Self.presumed, values)
        if case .server(let server) = connection.engine {
            witness.session = server.session
            witness.turn = experience.map { SignInExperience.Turn($0) }
            server.gatherInsertions()
        }
        witness.accounts.insert(presumption.account)
        return key
    }

    /// Fails by a division where no row is left: a statement cannot say more of itself.
    ///
    /// The account is looked for by its names and not by the rows it may have: for a list of numbers a server that takes
    /// the table for a small one reads all of it.
    private static let presumed = SQL(
        """
        SELECT CAST(1 AS bigint) / count(*) FROM data_key k CROSS JOIN store s
        WHERE k.is_current = 1 AND k.id = ?1 AND s.store_id = ?2 AND s.writer_floor <= ?3 AND s.moved_to IS NULL
            AND EXISTS (SELECT 1 FROM mark_key m WHERE m.id = 1 AND m.secret = ?4)
            AND NOT EXISTS (SELECT 1 FROM sign_out o WHERE o.account_mark = ?5)
            AND EXISTS (SELECT 1 FROM app_metadata c
                WHERE c.client_fold = ?6 AND c.environment = ?7 AND c.extra = ?8)
            AND NOT EXISTS (SELECT 1 FROM account a WHERE a.account_key = ?9 AND a.authority = ?10)
        """
    )
}

extension PostgreSQLError {
    /// Whether it may say that a presumption was wrong.
    var refutesPresumption: Bool { state == .usable && (code == .divisionByZero || code == .uniqueViolation) }
}
