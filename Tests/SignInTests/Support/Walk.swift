import LocalIdentityProvider
import SignIn

/// A user who opens the page and goes on from there.
struct Walk: UserAgent {
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

/// A user who does something else with the address.
struct Reaction: UserAgent {
    let react: @Sendable (String) async throws -> Void

    init(_ react: @escaping @Sendable (String) async throws -> Void) { self.react = react }

    func open(_ address: String) async throws { try await react(address) }
}

/// Nobody: a test that must not ask anyone.
struct Nobody: UserAgent {
    struct Asked: Error {}

    func open(_ address: String) async throws { throw Asked() }
}
