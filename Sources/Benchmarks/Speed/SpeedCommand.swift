import ArgumentParser

struct SpeedCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "speed",
        abstract: "Times the store by turns with a floor in C, or with other programs.",
        discussion: """
            The floor uses SQLite's C API on the same file and schema with the same settings and statements that are \
            prepared once, and the AES-256-GCM and HMAC of the same BoringSSL. It knows what is in the file before it \
            writes, gets its texts ready-made, and wipes no memory.
            """
    )

    private static var bars: [any Bar.Type] {
        [
            RepeatedLookupBar.self, LookupBar.self, SignInBar.self, ListProcessBar.self, TokenProcessBar.self,
            ListJSONBar.self, ClaimQueryBar.self, ImportBar.self, RaceBar.self,
        ]
    }

    @OptionGroup var options: BenchOptions
    @OptionGroup var tool: ToolOption
    @OptionGroup var peers: PeerOption

    func run() throws {
        try options.run(Self.bars) {
            $0.tool = tool.path
            try $0.findPeers(peers)
        }
    }
}
