import ArgumentParser
import Foundation
import HTTPTransport
import OAuth
import TokenManagement
import TokenStorage

/// `quickstart`: a tour of the store, in which every line that is printed comes from a real call.
@main
struct Quickstart: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quickstart",
        abstract: "A tour of tokenstore, with an identity provider on this machine.",
        discussion: """
            Signs two people in, calls two APIs, lets tokens expire and kills a process in the middle of a refresh. \
            The store stays in the temporary directory, to look at.
            """,
        subcommands: [DoomedRefresh.self]
    )

    func run() async throws {
        try await Tour.start { tour in
            try await tour.signIn()
            try await tour.callAPIs()
            try await tour.outliveTokens()
            try await tour.surviveACrash()
            try await tour.lookForSecrets()
            try tour.inspect()
        }
    }
}

/// Prints a heading of the tour.
func chapter(_ title: String) { say("\n\(title)") }

/// Prints a line at once, so that it stands before what others print.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// A separate process that begins a refresh and is killed before the answer.
struct DoomedRefresh: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "refresh-and-be-killed",
        abstract: "Refresh a token of the tour's store.",
        shouldDisplay: false
    )

    @Argument(help: "The store.") var store: String
    @Argument(help: "The user flow of the account.") var flow: String

    static func spawn(store: String, flow: String) throws -> Process {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [configuration.commandName ?? "", store, flow]
        try process.run()
        return process
    }

    func run() async throws {
        let store = try await TokenStore.open(at: StorePath(store))
        guard let account = try await store.account(matching: .userFlow(flow)) else { return }
        var request = SilentRequest(account: account.id, scope: World.tasks)
        request.forcesRefresh = true
        let manager = TokenManager(store: store, clientID: Tour.client, transport: AsyncHTTPTransport())
        _ = try await manager.acquireTokenSilently(request)
    }
}
