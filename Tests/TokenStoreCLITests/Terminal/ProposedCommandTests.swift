import TestTraits
import Testing

@testable import TokenStoreCLI

/// The store that commands in a hint are about.
@Suite(.onWaitingThreads)
struct ProposedCommandTests {
    @Test(
        arguments: [
            ("run 'tokenstore check'", "run 'tokenstore check --store /s'"),
            (
                "a 'tokenstore list' b 'tokenstore use X'.",
                "a 'tokenstore list --store /s' b 'tokenstore use X --store /s'."
            ),
            ("see 'tokenstore list --help'", "see 'tokenstore list --help'"),
            ("with 'tokenstore copy --store /t'", "with 'tokenstore copy --store /t'"),
            ("as in 'tokenstore exec -- env'", "as in 'tokenstore exec --store /s -- env'"),
            (
                "move it with 'tokenstore rekey --key 'file:/a b''",
                "move it with 'tokenstore rekey --key 'file:/a b' --store /s'"
            ),
            (#"'tokenstore use 'o'\''hara'' it's"#, #"'tokenstore use 'o'\''hara' --store /s' it's"#),
            (#"'tokenstore use "CONTOSO\\mara"' it's"#, #"'tokenstore use "CONTOSO\\mara" --store /s' it's"#),
            (#"'tokenstore use "a\\"' it's"#, #"'tokenstore use "a\\" --store /s' it's"#),
            ("the 'tokenstore' and 'tokenstore list", "the 'tokenstore' and 'tokenstore list"), ("", ""),
        ]
    )
    func `a command says which store is meant`(text: String, named: String) {
        #expect(text.naming(GivenStore(store: "/s")) == named)
        #expect(text.naming(GivenStore(store: nil)) == text)
    }

    @Test func `a command that is longer than any sentence is kept whole`() {
        var command = ProposedCommand("login")
        for number in 1...300 { command.add("--scope", "api://scope-\(number)/Read") }
        let hint = "sign in again with '\(command.text)'"
        #expect(CommandFailure(.failure, "the session has ended", hint).hint == hint)
        let failure = CommandFailure(.failure, "m", hint).naming(GivenStore(store: "/s"))
        #expect(failure.hint?.hasSuffix(" --store /s'") == true)
    }

    @Test func `a value that looks like an option is one word with its option`() {
        #expect(ProposedCommand.words("--login-hint", "-rf") == ["--login-hint=-rf"])
        #expect(ProposedCommand.words("--login-hint", "mara") == ["--login-hint", "mara"])
        #expect("run 'tokenstore check'".naming(GivenStore(store: "-a b")) == "run 'tokenstore check '--store=-a b''")
    }
}
