import ArgumentParser
import Foundation
import HTTPTransport
import OAuth
import TokenManagement
import TokenStorage

/// A process of its own that begins a refresh and does not live to see the answer.
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
        let store = try TokenStore.open(at: StorePath(store))
        guard let account = try store.account(matching: .userFlow(flow)) else { return }
        var request = SilentRequest(account: account.id, scope: World.tasks)
        request.forcesRefresh = true
        let manager = TokenManager(store: store, clientID: Tour.client, transport: AsyncHTTPTransport())
        _ = try await manager.acquireTokenSilently(request)
    }
}
