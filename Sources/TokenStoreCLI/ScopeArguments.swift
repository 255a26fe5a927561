import ArgumentParser
import OAuth

/// What is asked for.
struct ScopeArguments: ParsableArguments {
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A scope to ask for; repeatable, or a list with commas or spaces. Those for an ID token and a refresh "
                + "token are added.",
            valueName: "scope"
        )
    )
    var scope: [String] = []

    var value: Scope { Scope(scope.flatMap { $0.split { $0 == "," || $0.isWhitespace }.map(String.init) }) }
}
