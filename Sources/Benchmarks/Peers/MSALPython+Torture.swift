import OAuth
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
#endif

extension MSALPython {
    /// Kills a writer of a small cache at a random moment, each time of a new one.
    ///
    /// - Returns: how many caches could not be read, or had lost an account, afterwards.
    func damagedCaches(_ bench: Bench, kills: Int) throws -> Int {
        let accounts = 10
        return try (0..<kills).count { _ in
            let cache = try Self.cache(bench, accounts: accounts, accessTokens: 1)
            let pipe = try Pipe()
            let writer = try child("write", [cache]).start(output: pipe.writing)
            pipe.closeWriting()
            _ = pipe.next(1)
            usleep(UInt32.random(in: 0..<25_000))
            writer.kill()
            _ = try writer.wait()
            return try self.accounts(in: cache) < accounts
        }
    }

    /// Lets processes sign in two accounts each at once.
    ///
    /// - Returns: how many sign-ins are not stored, and how many processes failed.
    func crowd(_ bench: Bench, processes: Int) throws -> (missing: Int, failed: Int) {
        let sample = try Self.cache(bench, accounts: 1, accessTokens: 1)
        let cache = try bench.place("msal-crowd").directory + "/cache.json"
        let crowd = Array(repeating: child("crowd", [cache, sample]), count: processes)
        let failed = try Gate.runWhenReady(crowd).failed
        return (2 * processes - (try accounts(in: cache)), failed)
    }

    /// None where the file is no cache.
    private func accounts(in cache: String) throws -> Int {
        let text = try Data(contentsOf: URL(fileURLWithPath: cache))
        guard let document = try? JSON(parsing: String(decoding: text, as: UTF8.self)) else { return 0 }
        return document.object?["Account"]?.object?.members.count ?? 0
    }
}
