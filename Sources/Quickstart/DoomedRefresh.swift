import Foundation
import HTTPTransport
import OAuth
import TokenManagement
import TokenStorage

/// A process of its own that begins a refresh and does not live to see the answer.
struct DoomedRefresh {
    private static let word = "refresh-and-be-killed"

    private let store: String
    private let flow: String

    /// nil if the arguments do not ask for it.
    init?(arguments: [String]) {
        guard arguments.count == 4, arguments[1] == Self.word else { return nil }
        store = arguments[2]
        flow = arguments[3]
    }

    static func spawn(store: String, flow: String) throws -> Process {
        let process = Process()
        process.executableURL = Bundle.main.executableURL
        process.arguments = [word, store, flow]
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
