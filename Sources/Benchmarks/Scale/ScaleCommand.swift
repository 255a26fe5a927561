import ArgumentParser

struct ScaleCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scale",
        abstract: "Times lookups and sign-ins in a store of a million accounts beside one of a thousand.",
        discussion: "A million accounts take about 20 GB in --directory and are made by importing them in pieces."
    )

    private static var bars: [any Bar.Type] { [ScaleBar.self] }

    @OptionGroup var options: BenchOptions

    @Option(help: "How many accounts the large store has.")
    var accounts: Int?

    func run() throws {
        try options.run(Self.bars) { $0.accounts = accounts ?? $0.scaled(1_000_000, quick: 10_000) }
    }
}
