import ArgumentParser

struct TortureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "torture",
        abstract: "Kills, crowds, floods and damages stores, and counts what went wrong.",
        discussion: "Exits with 1 if anything did."
    )

    private static var bars: [any Bar.Type] {
        [
            KillBar.self, SingleRefreshBar.self, HolderBar.self, CrowdBar.self, FirstOpenBar.self,
            PlantedSecretsBar.self, DamageBar.self, FaultBar.self, BrokenIssuerBar.self, ShellBar.self,
            AnswerBar.self, RepairBar.self, EditBar.self, WalksBar.self,
        ]
    }

    @OptionGroup var options: BenchOptions
    @OptionGroup var tool: ToolOption
    @OptionGroup var peers: PeerOption

    @Option(help: "How many times a writer is killed (R1); 1,000 unless --quick.")
    var kills: Int?

    @Option(help: "How many rounds of 64 processes ask for one expired token (R2); 20 unless --quick.")
    var races: Int?

    @Option(
        help:
            "How many times the holder of the refresh lock is killed or stopped at each moment (R3); 10 unless --quick."
    )
    var holders: Int?

    @Option(help: "How many processes sign in at once (R4); 128 unless --quick.")
    var processes: Int?

    @Option(help: "How many times a new store is opened by 24 processes (R5); 200 unless --quick.")
    var opens: Int?

    @Option(help: "How many damaged files are read (R7); 100,000 unless --quick.")
    var cases: Int?

    @Option(help: "How many random edits are made to a store (R11); 20,000 unless --quick.")
    var edits: Int?

    @Option(help: "Another number draws other edits (R11).")
    var seed: UInt64 = 11

    @Option(help: "How many random tokens go through each shell (R12); 10,000 unless --quick.")
    var tokens: Int?

    @Option(help: "How many refreshes are cut off between answer and commit (R13); 1,000 unless --quick.")
    var answers: Int?

    @Option(help: "How many random walks through native authentication are taken (WALKS); 10,000 unless --quick.")
    var walks: Int?

    @Option(help: "How many times each kind of damage to each schema version is repaired (R14); 10 unless --quick.")
    var repairs: Int?

    func run() throws {
        let rows = try options.run(Self.bars) {
            $0.tool = tool.path
            $0.seed = seed
            try $0.findPeers(peers)
            let counts = [
                "R1": kills, "R2": races, "R3": holders, "R4": processes, "R5": opens, "R7": cases, "R11": edits,
                "R12": tokens, "R13": answers, "R14": repairs, "WALKS": walks,
            ]
            $0.counts = counts.compactMapValues(\.self)
        }
        if rows.contains(where: { $0.value.greatest > 0 }) { throw ExitCode.failure }
    }
}
