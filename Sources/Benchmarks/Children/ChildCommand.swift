import ArgumentParser

/// What this program does when it runs itself.
struct ChildCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "child",
        shouldDisplay: false,
        subcommands: [
            ImportChild.self, PeakChild.self, WriteChild.self, SignInChild.self, DamageChild.self, FaultsChild.self,
        ]
    )
}
