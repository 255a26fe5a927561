import ArgumentParser

@main
struct TokenStoreBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokenstore-bench",
        abstract: "Measures the token store beside a floor in C, and tries to break it.",
        discussion: """
            Every figure stands beside what the same work costs with nothing around it, measured in the same run by \
            turns; machines differ and are noisy, ratios less so. For the sanitizers over the whole test suite (R9) run:
              swift test --sanitize=thread --scratch-path .build-tsan
              ASAN_OPTIONS=detect_leaks=0 swift test --sanitize=address --scratch-path .build-asan
            """,
        subcommands: [SpeedCommand.self, ScaleCommand.self, TortureCommand.self, ChildCommand.self]
    )
}
