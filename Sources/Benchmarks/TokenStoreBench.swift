import ArgumentParser

@main
struct TokenStoreBench: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tokenstore-bench",
        abstract: "Measures the token store beside a floor in C, and tries to break it.",
        discussion: """
            Every figure stands beside what the same work costs with nothing around it, measured in the same run by \
            turns; machines differ and are noisy, ratios less so. Other programs that do the same work are measured right \
            after it, where they are installed: MSAL for Python with msal-extensions, and oidc-agent.

            The sanitizers over the whole test suite (R9) are no part of this program:
              swift test --sanitize=thread --scratch-path .build-tsan
              ASAN_OPTIONS=detect_leaks=0 swift test --sanitize=address --scratch-path .build-asan
            """,
        subcommands: [SpeedCommand.self, ScaleCommand.self, TortureCommand.self, ChildCommand.self]
    )
}
