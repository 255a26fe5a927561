import ArgumentParser
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What this program does when it runs itself.
struct ChildCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "child",
        shouldDisplay: false,
        subcommands: [
            ImportChild.self, PeakChild.self, WriteChild.self, SignInChild.self, DamageChild.self, FaultsChild.self,
            FleetTokenChild.self, FleetWriteChild.self, FleetCrowdChild.self,
        ]
    )
}

/// Damages a store, its key or a document again and again, each time in a way that its number decides.
struct DamageChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "damage", shouldDisplay: false)

    @Argument var directory: String
    @Argument var first: Int
    @Argument var count: Int

    func run() throws {
        let subject = try DamageSubject(StorePath(directory + "/tokenstore.db"))
        for number in first..<first + count {
            // A hang ends the process with a signal that the parent knows.
            alarm(60)
            Violations.say("case \(number)")
            var damage = Damage(number)
            switch number % 4 {
            case 0, 1: try subject.tryDatabase(&damage)
            case 2: try subject.tryKey(&damage)
            default: try subject.tryDocument(&damage)
            }
        }
    }
}

/// Imports a file into a store, as the command line does.
struct ImportChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "import", shouldDisplay: false)

    @Argument var database: String
    @Argument var file: String

    func run() throws {
        let store = try TokenStore.open(at: StorePath(database))
        let document = try Data(contentsOf: URL(fileURLWithPath: file))
        _ = try document.withUnsafeBytes { try store.importMSALCache($0) }
    }
}

/// Runs a program and prints the most memory it had, in megabytes.
struct PeakChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "peak", shouldDisplay: false)

    @Argument var command: [String]

    func run() throws {
        let ended = try ChildProcess(command[0], Array(command.dropFirst())).run()
        guard ended.isSuccess else { throw BenchFailure("\(command[0]) failed") }
        print(ended.peakMegabytes, terminator: "")
    }
}

/// Signs accounts in as soon as its standard input ends.
struct SignInChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "sign-in", shouldDisplay: false)

    @Argument var database: String
    @Argument var first: Int
    @Argument var count: Int

    func run() throws {
        Gate.wait()
        let store = try TokenStore.open(at: StorePath(database))
        for number in first..<first + count {
            try store.save(SampleAccount(number).response, for: SampleAccount.request())
        }
    }
}

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
            var account = SampleAccount(Int.random(in: 0..<KillBenchmark.accounts, using: &random))
            account.generation = round * 1_000_000 + UInt64(step)
            try store.save(account.response, for: request)
            let message = [UInt64(account.number), account.generation]
            guard message.withUnsafeBytes({ write(1, $0.baseAddress, $0.count) }) == Self.messageCount else { return }
            // Empties the log, so that the kill may meet that too.
            if step % 20 == 0 { _ = try store.purgeExpired() }
        }
    }
}
