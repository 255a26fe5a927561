import ArgumentParser

struct PeerOption: ParsableArguments {
    @Option(
        help: "A Python with msal and msal-extensions, for the peer column; oidc-agent is found by itself."
    )
    var peerPython = "python3"
}

extension Bench {
    /// Looks for the programs that the peer column measures.
    mutating func findPeers(_ option: PeerOption) throws {
        msal = try MSALPython(python: option.peerPython, in: directory)
        oidcAgent = try OIDCAgent()
    }
}
