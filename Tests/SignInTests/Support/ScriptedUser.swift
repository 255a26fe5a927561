import LocalIdentityProvider
import SignIn

/// A user who opens the page and follows a script.
struct ScriptedUser: UserAgent {
    private let visitor: ScriptedBrowser
    private let steps: @Sendable (ScriptedBrowser) async throws -> Void

    init(_ visitor: ScriptedBrowser? = nil, _ steps: @escaping @Sendable (ScriptedBrowser) async throws -> Void) throws
    {
        self.visitor = try visitor ?? ScriptedBrowser()
        self.steps = steps
    }

    func open(_ address: String) async throws {
        try await visitor.open(address)
        try await steps(visitor)
    }
}

/// A user who reacts to the address without a browser.
struct ReactingUser: UserAgent {
    let react: @Sendable (String) async throws -> Void

    init(_ react: @escaping @Sendable (String) async throws -> Void) { self.react = react }

    func open(_ address: String) async throws { try await react(address) }
}

/// The user of a test that must ask for nothing.
struct AbsentUser: UserAgent {
    struct Asked: Error {}

    func open(_ address: String) async throws { throw Asked() }
}
