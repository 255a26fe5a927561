import ArgumentParser
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Signs in until it is killed, and reports each commit that has returned.
struct WriteChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "write", shouldDisplay: false)

    /// An account and a generation, eight bytes each.
    static let messageCount = 16

    @Argument var database: String
    @Argument var round: UInt64

    func run() throws {
        let store = try TokenStore.open(at: StorePath(database))
        let request = try SampleAccount.request()
        var random = RandomText(seed: round)
        for step in 1... {
            var account = SampleAccount(Int.random(in: 0..<KillBar.accounts, using: &random))
            account.generation = round * 1_000_000 + UInt64(step)
            try store.save(account.response, for: request)
            let message = [UInt64(account.number), account.generation]
            guard message.withUnsafeBytes({ write(1, $0.baseAddress, $0.count) }) == Self.messageCount else { return }
            // Empties the log, so that the kill may meet that too.
            if step % 20 == 0 { _ = try store.purgeExpired() }
        }
    }
}
