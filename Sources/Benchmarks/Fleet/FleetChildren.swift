import ArgumentParser
import HTTPTransport
import OAuth
import TokenManagement
import TokenStorage
import TokenStoreCLI

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

/// Asks for the token of the only account, as soon as there is something on its standard input.
///
/// It says before that it is ready, and then that it has the token. Like a server it lives on, until its standard input
/// ends.
struct FleetTokenChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fleet-token", shouldDisplay: false)

    @Argument var location: String

    @Option(help: "Seconds by which its clock is ahead of others'.")
    var ahead = 0

    func run() throws {
        var options = StoreOptions()
        let ahead = TimeInterval(ahead)
        options.now = { Date(timeIntervalSinceNow: ahead) }
        let store = try TokenStore.open(at: StoreLocation(location), options: options)
        guard let account = try store.accounts().first else { throw BenchFailure("the store has no account") }
        FleetChild.say([1])
        Gate.waitForByte()
        let manager = TokenManager(store: store, clientID: BenchIssuer.client, transport: AsyncHTTPTransport())
        let request = SilentRequest(account: account.id, scope: BenchIssuer.scope)
        _ = try AsynchronousWork.run { try await manager.acquireTokenSilently(request) }
        FleetChild.say([1])
        Gate.wait()
    }
}

/// Signs in one account after the other until it is killed, and reports the number of each that is stored.
struct FleetWriteChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fleet-write", shouldDisplay: false)

    @Argument var location: String
    @Argument var first: Int

    func run() throws {
        let store = try TokenStore.open(at: StoreLocation(location))
        let request = try SampleAccount.request()
        for number in first... {
            try store.save(SampleAccount(number).response, for: request)
            FleetChild.say(withUnsafeBytes(of: UInt64(number)) { Array($0) })
        }
    }
}

/// Signs in accounts of its own and one that all nodes share, each on a thread, as soon as its standard input ends.
struct FleetCrowdChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "fleet-crowd", shouldDisplay: false)

    /// Sign-ins of accounts of its own, and as many of the shared one.
    static let count = 16
    static let shared = 0

    @Argument var location: String
    @Argument var first: Int

    func run() throws {
        let store = try TokenStore.open(at: StoreLocation(location))
        FleetChild.say([1])
        Gate.wait()
        let request = try SampleAccount.request()
        let errors = Background.together(2 * Self.count) { [first] index in
            var account = SampleAccount(index < Self.count ? first + index : Self.shared)
            account.generation = UInt64(first + index)
            try store.save(account.response, for: request)
        }
        for error in errors { Violations.explain("\(error)") }
        if !errors.isEmpty { throw ExitCode.failure }
    }
}

enum FleetChild {
    /// Reports to the parent.
    static func say(_ bytes: [UInt8]) { _ = bytes.withUnsafeBytes { write(1, $0.baseAddress, $0.count) } }
}
