import OAuth
import Synchronization
import TestSupport
import TokenStorage

/// Writers on several machines lose the primary at a random moment; what was reported as stored must be on the standby.
enum FleetWriterLossBenchmark: Benchmark {
    static let name = "F9"
    private static let writers = 16

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        var random = RandomText(seed: 9)
        var (lost, halves, commits) = (0, 0, 0)
        for _ in 0..<bench.scaled(20, quick: 2) {
            let round = try loseThePrimary(bench, &random)
            lost += round.lost
            halves += round.halves
            commits += round.commits
        }
        let work = "\(writers) writers, primary killed, standby promoted"
        add(ReportRow(name, "\(work): sign-ins lost that had returned", failures: lost, of: commits))
        add(ReportRow(name, "\(work): sign-ins stored by halves", failures: halves, of: commits))
    }

    private static func loseThePrimary(
        _ bench: Bench,
        _ random: inout RandomText
    ) throws -> (lost: Int, halves: Int, commits: Int) {
        let pair = try FleetPair()
        defer { pair.stop() }
        _ = try pair.store(bench)
        let said = try Pipe()
        let running = try (0..<writers).map {
            try ChildProcess.this("fleet-write", pair.address, "\(1_000_000 * ($0 + 1))").start(output: said.writing)
        }
        said.closeWriting()
        // The first one that is stored shows that they have begun.
        var reported = said.next(8)
        Background.pause(.milliseconds(Int.random(in: 0...1_500, using: &random)))
        try pair.primary.kill()
        Background.pause(.milliseconds(Int.random(in: 0...1_000, using: &random)))
        try pair.promote()
        Background.pause(.milliseconds(1_000))
        for writer in running { writer.kill() }
        reported += said.rest()
        for writer in running { _ = try writer.wait() }
        let survivor = try TokenStore.open(at: StoreLocation(pair.standby.address(schema: "tokenstore")))
        let numbers = reported.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - 7, by: 8).map {
                Int(bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self))
            }
        }
        let lost = try numbers.count { try !SampleAccount($0).isStored(in: survivor) }
        let halves = try survivor.accounts().count { try !survivor.isWhole($0) } + survivor.check().count
        return (lost, halves, numbers.count)
    }
}

/// Connections that are cut when a commit is sent: success is reported exactly where the rows are there, never twice.
enum FleetCutBenchmark: Benchmark {
    static let name = "F10"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let fleet = try FleetServer(bench)
        defer { fleet.stop() }
        let (wrong, tried) = try cutEverywhere(fleet, rounds: bench.scaled(10, quick: 1))
        add(ReportRow(name, "connection cut at each message of a sign-in: wrong outcomes", failures: wrong, of: tried))
        let rounds = bench.scaled(20, quick: 2)
        let failovers = try (0..<rounds).count { try !isToldRight(bench, round: $0) }
        let work = "cut behind COMMIT, failover, other transactions: wrong outcomes"
        add(ReportRow(name, work, failures: failovers, of: rounds))
    }

    /// Cuts before and after each message that a sign-in sends, of which the last one commits.
    private static func cutEverywhere(_ fleet: FleetServer, rounds: Int) throws -> (wrong: Int, tried: Int) {
        let proxy = try DelayingProxy(to: fleet.server.port, roundTrip: .zero)
        defer { proxy.stop() }
        let store = try fleet.open(port: proxy.port)
        let messages = try size(ofSignInTo: store) { proxy.messages }
        var (wrong, number) = (0, 0)
        for _ in 0..<rounds {
            for place in 0..<messages {
                for cut in [DelayingProxy.Cut.before, .after] {
                    number += 1
                    let account = SampleAccount(number)
                    proxy.cut(after: place, cut)
                    let isReported = try succeeds { try store.save(account.response, for: SampleAccount.request()) }
                    wrong += try fleet.isOnce(account, isReported: isReported) ? 0 : 1
                }
            }
        }
        return (wrong, number)
    }

    /// How much a sign-in of a new account sends, as `count` says, and tells others behind its commit.
    private static func size(ofSignInTo store: TokenStore, by count: () -> Int) throws -> Int {
        func sizeOfNext(_ number: Int) throws -> Int {
            let before = count()
            try store.save(SampleAccount(number).response, for: SampleAccount.request())
            // What is told to others is not waited for.
            Background.pause(.milliseconds(100))
            return count() - before
        }
        // The first one connects and prepares.
        _ = try sizeOfNext(900_000)
        return try sizeOfNext(900_001)
    }

    /// The answer to a commit is lost together with the primary, and the new one has given its number to others.
    private static func isToldRight(_ bench: Bench, round: Int, tries: Int = 5) throws -> Bool {
        let pair = try FleetPair()
        defer { pair.stop() }
        let fleet = try pair.store(bench)
        let proxy = try DelayingProxy(to: pair.primary.port, roundTrip: .milliseconds(20))
        defer { proxy.stop() }
        let store = try TokenStore.open(at: StoreLocation(pair.address(throughProxy: proxy.port)))
        let roundTrips = try size(ofSignInTo: store) { proxy.roundTrips }
        let account = SampleAccount(round)
        // The last one tells others of the commit, which is the one before.
        proxy.cut(afterRoundTrips: roundTrips - 2, round.isMultiple(of: 2) ? .after : .before)
        let isOver = LockedValue(false)
        let outcome = Background.result {
            defer { isOver.withLock { $0 = true } }
            return try store.save(account.response, for: SampleAccount.request())
        }
        try Background.wait { !proxy.isArmed || isOver.withLock(\.self) }
        guard !proxy.isArmed else {
            // It took fewer round trips than the one before it, and was not cut.
            guard tries > 0 else { throw BenchFailure("no sign-in is cut") }
            return try isToldRight(bench, round: round, tries: tries - 1)
        }
        proxy.stop()
        try pair.primary.kill()
        try pair.promote()
        let survivor = FleetServer(fleet, on: pair.standby)
        let other = try survivor.open()
        for number in 0..<20 { try other.save(SampleAccount(800_000 + number).response, for: SampleAccount.request()) }
        let isReported = try succeeds { _ = try outcome() }
        return try survivor.isOnce(account, isReported: isReported)
    }

    /// Whether it does not fail with an error of the store's.
    private static func succeeds(_ body: () throws -> Void) throws -> Bool {
        do {
            try body()
            return true
        } catch let error as TokenStoreError {
            Violations.explain("\(error)")
            return false
        }
    }
}

extension FleetServer {
    /// Whether an account is there exactly if that was reported, and its sign-in stands in the record once.
    fileprivate func isOnce(_ account: SampleAccount, isReported: Bool) throws -> Bool {
        let store = try open()
        let isThere = try account.isStored(in: store)
        return try isThere == isReported && entries(of: account) == (isThere ? 1 : 0)
    }
}

extension SampleAccount {
    /// Whether a store has the access token of this generation.
    func isStored(in store: TokenStore) throws -> Bool {
        guard case .usable(let token, _) = try store.storedToken(for: query()) else { return false }
        return token.secret.reveal() == accessToken(0)
    }
}

extension TokenStore {
    /// Whether an account that has signed in has all that a sign-in stores.
    fileprivate func isWhole(_ account: Account) throws -> Bool {
        guard case .usable = try storedToken(for: SampleAccount.query(of: account.id, 0)) else { return false }
        return try !refreshTokens(of: account.id, client: SampleAccount.client, family: nil).isEmpty
            && !idTokens(of: account.id).isEmpty
    }
}
