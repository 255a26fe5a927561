import OAuth
import Synchronization
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Disk full, I/O errors and a read-only disk, at every write of every kind of change.
enum FaultBenchmark: Benchmark {
    static let name = "R8"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let path = try bench.place("faults")
        let pipe = try Pipe()
        let child = try ChildProcess.this("faults", path.directory, "\(bench.scaled(1, quick: 9))").start(
            output: pipe.writing
        )
        pipe.closeWriting()
        var found = Violations()
        found.take(String(decoding: pipe.rest(), as: UTF8.self))
        found.take(try child.wait())
        found.explain()
        let failures = found.counts.values.reduce(0, +)
        add(ReportRow(name, "writes that fail: changes not undone as a whole", failures: failures, of: found.cases))
        try FullDisk(bench)?.measure(add)
    }
}

/// The kinds of changes that a store makes, for trying each of them under adverse conditions.
enum Change: CaseIterable {
    case create
    case signIn
    case signInAgain
    case refresh
    case importDocument
    case removeAccount
    case purge
    case purgeEverything
    case rekey

    /// Makes the change to a store with accounts 0 to 4.
    func make(at path: StorePath, in store: TokenStore?) throws {
        let store = try store ?? TokenStore.open(at: path)
        var known = SampleAccount(1)
        known.generation = 9
        switch self {
        case .create: break
        case .signIn: try store.save(SampleAccount(7).response, for: SampleAccount.request())
        case .signInAgain: try store.save(known.response, for: SampleAccount.request())
        case .refresh:
            let tokens = try store.refreshTokens(of: known.id, client: SampleAccount.client)
            guard let used = tokens.first else { throw BenchFailure("an account has no refresh token") }
            try store.save(known.response, for: SampleAccount.request(grant: .refreshToken), refreshing: used)
        case .importDocument:
            let document = MSALDocument(accounts: 10..<40, accessTokens: 2).bytes
            _ = try document.withUnsafeBytes { try store.importMSALCache($0) }
        case .removeAccount: try store.removeAccount(known.id, client: SampleAccount.client)
        case .purge: _ = try store.purge(.username(known.username))
        case .purgeEverything: _ = try TokenStore.purgeAll(at: path)
        case .rekey: _ = try store.rekey()
        }
    }
}

/// What a store is after each change where nothing fails.
final class ChangeOutcomes: Sendable {
    private let known = LockedValue<[Change: [String]]>([:])

    /// Makes the change to a copy of `model` in `directory`, once.
    func value(for change: Change, directory: String) throws -> [String] {
        if let state = known.withLock({ $0[change] }) { return state }
        let copy = directory + "/wanted-\(change)"
        try FileManager.default.copyItem(atPath: directory + "/model", toPath: copy)
        let path = StorePath(copy + "/")
        try change.make(at: path, in: TokenStore.open(at: path))
        let state = try Self.state(of: path)
        known.withLock { $0[change] = state }
        return state
    }

    /// Everything that a change may change, as lines.
    static func state(of path: StorePath) throws -> [String] {
        let store = try TokenStore.open(at: path)
        var lines: [String] = []
        try store.forEachAccount(withTokens: true) { summary in
            let tokens = try store.refreshTokens(of: summary.account.id, client: SampleAccount.client)
                .map { $0.secret.reveal().prefix(20) }
            let idTokens = try store.idTokens(of: summary.account.id).map {
                $0.idToken.claims.issuedAt?.unixSeconds ?? 0
            }
            let cached = try (0..<2).map { index in
                let account = SampleAccount.query(of: summary.account.id, index)
                guard case .usable(let token, _) = try store.cachedToken(for: account) else { return "none" }
                return String(token.secret.reveal().prefix(20))
            }
            lines.append("\(summary.account.username) \(tokens) \(idTokens) \(cached) \(summary.accessTokens.count)")
        }
        return lines
    }
}

/// A file system in memory that really is full, and then read-only; only root can make one.
final class FullDisk {
    let directory: String
    private let path: StorePath

    /// Nil where none can be made.
    init?(_ bench: Bench) throws {
        guard geteuid() == 0 else { return nil }
        directory = try bench.place("disk").directory
        path = StorePath(directory + "/tokenstore.db")
        let mount = ChildProcess("/bin/mount", ["-t", "tmpfs", "-o", "size=1m,mode=700", "tmpfs", directory])
        guard try mount.run().isSuccess else { return nil }
    }

    deinit {
        // The failure cannot be reported; the scratch directory that stays shows it.
        _ = try? ChildProcess("/bin/umount", ["-l", directory]).run()
    }

    /// Takes all the room there is; returns the file that has it.
    func fill() throws -> String {
        let name = directory + "/filler"
        let descriptor = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchFailure("\(name) cannot be created, error \(errno)") }
        defer { close(descriptor) }
        let bytes = [UInt8](repeating: 0, count: 4_096)
        while write(descriptor, bytes, bytes.count) > 0 {}
        return name
    }

    /// Removes a directory of the disk.
    func remove(_ name: String) {
        // What stays makes the next round fail, which says so.
        try? FileManager.default.removeItem(atPath: "\(directory)/\(name)")
    }

    func measure(_ add: (ReportRow) -> Void) throws {
        var store: TokenStore? = try TokenStore.open(at: path)
        var (stored, failures, reason) = (0, 0, "")
        while reason.isEmpty {
            do {
                let saved = try store?.save(SampleAccount(stored).response, for: SampleAccount.request())
                guard case .pending(let why) = saved?.outcome else {
                    stored += 1
                    continue
                }
                reason = why
            } catch {
                reason = "\(error)"
            }
        }
        if !reason.contains("disk is full") { failures += 1 }
        failures += try problems(store, stored)
        store = nil
        failures += try problems(TokenStore.open(at: path), stored)
        add(ReportRow("R8", "a disk that is full: wrong error, lost or damaged", failures: failures, of: stored + 1))
        add(ReportRow("R8", "a disk that is read-only: the same", failures: try readOnly(stored), of: stored + 1))
    }

    private func readOnly(_ stored: Int) throws -> Int {
        guard try ChildProcess("/bin/mount", ["-o", "remount,ro", directory]).run().isSuccess else { return 1 }
        var failures = try problems(TokenStore.inspect(at: path), stored)
        do {
            try TokenStore.open(at: path).save(SampleAccount(0).response, for: SampleAccount.request())
            failures += 1
        } catch let error as TokenStoreError {
            if !"\(error)".contains("permissions") { failures += 1 }
        }
        return failures
    }

    /// How many of the first `stored` accounts are missing, and what a check finds.
    private func problems(_ store: (any StoreReading)?, _ stored: Int) throws -> Int {
        guard let store else { return stored }
        let missing = try (0..<stored).count { number in
            guard case .usable = try store.cachedToken(for: SampleAccount(number).query()) else { return true }
            return false
        }
        return try missing + store.check().count
    }
}
