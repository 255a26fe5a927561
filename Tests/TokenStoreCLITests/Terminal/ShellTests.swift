import Foundation
import LocalIdentityProvider
import OAuth
import Sealing
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// What a shell makes of the texts that the program gives it.
@Suite(.onWaitingThreads)
struct ShellTests {
    private static func texts(seed: UInt64) -> [String] {
        var random = SeededGenerator(seed: seed)
        return ["", "'", "''", "'\u{301}", "a'\u{301};id;'", "\\", "\n", "-n", "~", "$HOME", "\u{202E}'"]
            + (0..<500).map { _ in random.confusingText(count: 12) }
    }

    private func expectSame(_ words: [String], _ texts: [String], in shell: UnixShell) throws {
        let printed = try shell.run(words.map { "printf '%s\\0' \($0)\n" }.joined())
        #expect(printed.count == texts.count)
        for (text, bytes) in zip(texts, printed) { #expect(Array(text.utf8) == bytes, "\(text.debugDescription)") }
    }

    @Test(.enabled(if: UnixShell.dash.isInstalled, "needs dash"))
    func `dash reads a quoted text as its very bytes`() throws { try expectQuoted(in: .dash) }

    @Test(.enabled(if: UnixShell.bash.isInstalled, "needs bash"))
    func `bash reads a quoted text and a word of a command as their very bytes`() throws {
        try expectQuoted(in: .bash)
        try expectSame(Self.texts(seed: 2).map(\.shellWord), Self.texts(seed: 2), in: .bash)
    }

    @Test(.enabled(if: UnixShell.zsh.isInstalled, "needs zsh"))
    func `zsh reads a quoted text and a word of a command as their very bytes`() throws {
        try expectQuoted(in: .zsh)
        try expectSame(Self.texts(seed: 2).map(\.shellWord), Self.texts(seed: 2), in: .zsh)
    }

    private func expectQuoted(in shell: UnixShell) throws {
        let texts = Self.texts(seed: 1)
        try expectSame(texts.map(\.shellQuoted), texts, in: shell)
    }

    @Test(arguments: [
        ("/a/b-c_1.db", "/a/b-c_1.db"), ("", "''"), ("a b", "'a b'"), ("it's", "'it'\\''s'"), ("\u{E9}", "'\u{E9}'"),
        ("a@b c", "'a@b c'"), (#"{"a":["b"]}"#, #"'{"a":["b"]}'"#), ("a=$(id)", #""a=\$(id)""#),
        (#"CONTOSO\mara"#, #""CONTOSO\\mara""#), (#"it's\"#, #"$'it\047s\134'"#), (#"a\!"#, #"$'a\134\041'"#),
        ("a\nb", #"$'a\012b'"#), ("\u{202E}'\\", #"$'\342\200\256\047\134'"#),
    ])
    func `a word of a command that is shown has nothing in it that a terminal obeys`(text: String, word: String) {
        #expect(text.shellWord == word)
        #expect(text.shellWord.utf8.allSatisfy { $0 >= 0x20 })
    }

    @Test(.enabled(if: UnixShell.bash.isInstalled, "needs bash"))
    func `bash runs nothing of the words of a command pasted with its quotation marks`() throws {
        try expectHarmless(in: .bash)
    }

    @Test(.enabled(if: UnixShell.zsh.isInstalled, "needs zsh"))
    func `zsh runs nothing of the words of a command pasted with its quotation marks`() throws {
        try expectHarmless(in: .zsh)
    }

    @Test(arguments: [
        "/srv/R&D/store", "/srv/My (Files)", "a;b", "$(id)@example.org", #"{"a":{"b|c":null}}"#, "a<b>c", "o'brien",
        #"CONTOSO\mara"#, #"a$b\c"#, #"a"b\c"#, #"\"#, #"a\"#, #"\\server\share"#, #"a\$(id)"#, #"\n\""#,
    ])
    func `what a shell reads something into is one word in every shell`(text: String) throws {
        for shell in [UnixShell.dash, .bash, .zsh, .fish] where shell.isInstalled {
            #expect(try shell.run("printf '%s\\0' \(text.shellWord)\n") == [Array(text.utf8)], "\(shell)")
        }
    }

    private func expectHarmless(in shell: UnixShell) throws {
        let file = try TemporaryDirectory().file("made")
        let texts = [
            "$(touch OUT)", "`touch OUT`", "; touch OUT #", "'; touch OUT; '", "\n touch OUT\n", "\r\ntouch OUT\r\n",
            "& touch OUT &", "a|touch OUT", "> OUT", "<(touch OUT)", "\\'; touch OUT; \\'", "\";touch OUT;\"",
            #"{"a'":{"$(touch OUT)":[]}}"#, "*(e:'touch OUT':)", "o'hara $(touch OUT)", "a' b' $(touch OUT)",
            "${IFS:=`touch OUT`}", "\u{E9}';touch OUT;'", "(touch OUT)", "\\$(touch OUT)", "a\\ ; touch OUT #\\",
            "\\\";touch OUT;\\\"", "\\",
        ]
        for text in texts {
            let word = text.replacing("OUT", with: file).shellWord
            for words in [word, "'it'\\''s' \(word)", "\(word) 'a b' \(word)"] {
                _ = try shell.run("(eval \("'tokenstore x \(words)'".shellQuoted)) 2>/dev/null || true\n")
                #expect(!FileManager.default.fileExists(atPath: file), "\(words)")
            }
        }
    }

    @Test(arguments: [
        "'\u{301};touch $OUT;'", "x'\u{FE0F};touch $OUT;'", "a\nb", "a\u{1B}[2Jb", "a\u{7F}", "\u{E9}", "a\u{202E}b",
    ])
    func `a malformed token is refused when it arrives, and the session continues`(token: String) async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let body = JSONValue.object(.init([("access_token", .string(token)), ("expires_in", 3_600)])).serialized
            scene.provider.faults.add(.answer(body: body, at: "token"))
            let outcome = try await scene.tokens(1, "--format", "env")[0]
            #expect(outcome.status == 1)
            #expect(outcome.output.isEmpty)
            #expect(outcome.error.contains("characters in access_token that RFC 6749 forbids"), "\(outcome.error)")
            #expect(try scene.rows == .all)
            #expect(try await scene.tokens(1)[0].status == 0)
        }
    }

    @Test func `a token of printable ASCII comes out of every shell as it is`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let token = #"a'b"c\d$(id)`id`!x;{} #~"#
            let body = JSONValue.object(.init([("access_token", .string(token)), ("expires_in", 3_600)])).serialized
            scene.provider.faults.add(.answer(body: body, at: "token"))
            let assignment = try await scene.tokens(1, "--format", "env")[0].output
            for shell in [UnixShell.dash, .bash, .zsh] where shell.isInstalled {
                let script = "eval \(assignment.dropLast().description.shellQuoted)\nprintf '%s\\0' \"$ACCESS_TOKEN\"\n"
                #expect(try shell.run(script) == [Array(token.utf8)], "\(shell)")
            }
        }
    }

    @Test(arguments: ["token_type", "refresh_token", "id_token"])
    func `a line break in another field is refused and loses no session`(field: String) async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            var members = JSONValue.Object([("access_token", "a"), ("expires_in", 3_600)])
            members[field] = "Bearer\r\nX-Evil: 1"
            scene.provider.faults.add(.answer(body: JSONValue.object(members).serialized, at: "token"))
            let outcome = try await scene.tokens(1, "--format", "header")[0]
            #expect(outcome.status == 1)
            #expect(outcome.output.isEmpty)
            #expect(outcome.error.contains("characters in \(field) that RFC 6749 forbids"), "\(outcome.error)")
            #expect(try scene.rows == .all)
            #expect(try await scene.tokens(1)[0].status == 0)
        }
    }

    @Test func `half a character in another field of an answer loses no token`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let body = #"{"access_token":"a","expires_in":3600,"name":"\ud83d","n":NaN,"refresh_token":"next"}"#
            scene.provider.faults.add(.answer(body: body, at: "token"))
            #expect(try await scene.tokens(1)[0].output == "a\n")
            let store = try await TokenStore.open(at: StorePath(scratch(scene)))
            let account = try await #require(try store.accounts().first)
            let tokens = try await store.refreshTokens(of: account.id, client: "pwd-app", family: nil)
            #expect(tokens.map { $0.secret.reveal() } == ["next"])
        }
    }

    private func scratch(_ scene: IssuerScene) -> String { scene.scratch.store }

    @Test func `an unprintable stored token is refreshed instead of printed`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            try await scene.signIn(lifetime: 3_600) { $0.accessToken = Secret("a\u{1B}]0;x\u{7}") }
            let outcome = try await scene.tokens(1)[0]
            #expect(outcome.status == 0, "\(outcome)")
            #expect(outcome.output.split(separator: ".").count == 3, "\(outcome)")
            #expect(scene.tokenRequestCount == 1)
        }
    }
}
