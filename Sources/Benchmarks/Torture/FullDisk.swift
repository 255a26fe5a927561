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
        // Nobody is left to tell; the scratch directory that then stays says enough.
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
    private func problems(_ store: TokenStore?, _ stored: Int) throws -> Int {
        guard let store else { return stored }
        let missing = try (0..<stored).count { number in
            guard case .usable = try store.cachedToken(for: SampleAccount(number).query()) else { return true }
            return false
        }
        return try missing + store.check().count
    }
}
