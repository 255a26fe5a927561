import ArgumentParser

struct TortureCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "torture",
        abstract: "Kills, crowds, floods and damages stores, and counts what went wrong.",
        discussion: "Exits with 1 if anything did."
    )

    private static var bars: [any Bar.Type] { [] }

    @OptionGroup var options: BenchOptions
    @OptionGroup var tool: ToolOption

    func run() throws {
        let rows = try options.run(Self.bars) { $0.tool = tool.path }
        if rows.contains(where: { $0.value.greatest > 0 }) { throw ExitCode.failure }
    }
}
