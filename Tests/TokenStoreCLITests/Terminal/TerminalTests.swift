import Foundation
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct TerminalTests {
    @Test(arguments: [40, 60, 80, 100, 140] as [UInt16])
    func `a table fits the terminal`(columns: UInt16) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara, .ivo)
        let outcome = try scratch.runOnTerminal("list", "--tokens", "--no-color", columns: columns)
        #expect(outcome.status == 0)
        #expect(outcome.lines.allSatisfy { $0.count <= Int(columns) })
        #expect(outcome.output.contains("…"))
        #expect(outcome.lines[0].contains("POLICY"))
        #expect(outcome.lines[0].contains("EXPIRES") == (columns >= 60))
    }

    @Test func `COLUMNS says how wide the terminal is`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        try scratch.fill(.nameless)
        let wide = try scratch.runOnTerminal("list", "--no-color", environment: ["COLUMNS": "300"])
        #expect(wide.lines[0].hasSuffix("CLIENTS") || wide.lines[0].hasSuffix("TENANT"))
        let narrow = try scratch.runOnTerminal("list", "--no-color", environment: ["COLUMNS": "50"])
        #expect(narrow.lines.allSatisfy { $0.count <= 50 })
    }

    @Test func `times are shown as distances`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.runOnTerminal("list")
        #expect(outcome.output.contains(/in (59 min|1 h)/))
        #expect(outcome.output.contains(/(now|\d s ago)/))
    }

    @Test(arguments: [
        (seconds: 50, text: "in (50|[1-4]?[0-9]) s"), (90, "in 1 min"), (5400, "in 1 h"), (260_000, "in 3 d"),
        (8_000_000, "in 3 mo"), (100_000_000, "in 3 y"), (-90, "1 min ago"),
    ])
    func `distances are rounded down to a unit`(seconds: Int, text: String) throws {
        let scratch = try ScratchDirectory()
        var mara = CachedUser.mara
        mara.claims["auth_time"] = Int(Date().timeIntervalSince1970) + seconds
        try scratch.fill(mara)
        let outcome = try scratch.runOnTerminal("claims")
        #expect(outcome.output.contains(try Regex("auth_time +20[^ ]+Z \\(\(text)\\)")))
    }

    @Test(
        arguments: [
            ([:], [], true), (["NO_COLOR": "1"], [], false), (["TERM": "dumb"], [], false),
            ([:], ["--no-color"], false), ([:], ["--color=never"], false), ([:], ["--color=auto"], true),
            (["NO_COLOR": "1"], ["--color=always"], true), (["NO_COLOR": "1"], ["--color", "auto"], false),
        ] as [([String: String], [String], Bool)]
    )
    func `colour is for terminals that want it`(
        environment: [String: String],
        options: [String],
        isColoured: Bool
    ) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let variables = environment.merging(["TOKENSTORE_PATH": scratch.store]) { $1 }
        let outcome = try Command(arguments: ["list"] + options, environment: variables).runOnTerminal(in: scratch)
        #expect(outcome.output.contains("\u{1B}[") == isColoured)
    }

    @Test func `--color is one of three words, and a pipe is coloured only on demand`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        #expect(try scratch.run("list").output.contains("\u{1B}") == false)
        #expect(try scratch.run("list", "--color=always").output.contains("\u{1B}[32myes\u{1B}[0m"))
        #expect(try scratch.run("list", "--color=always", "-o", "tsv").output.contains("\u{1B}") == false)
        #expect(try scratch.run("list", "--color=sometimes").status == 64)
        #expect(try scratch.run("list", "--color=always", "--no-color").status == 64)
    }

    @Test func `control characters of names and claims do not reach the terminal`() throws {
        let scratch = try ScratchDirectory()
        var mara = CachedUser.mara
        mara.username = "ma\u{1B}]0;x\u{07}ra\u{9B}31m\u{202E}"
        mara.claims["note"] = "a\u{1B}[2Jb\nc"
        try scratch.fill(mara)
        let commands = [["list", "--no-color"], ["list", "--json"], ["claims", "--no-color"], ["claims", "--json"]]
        for arguments in commands + [["claims", "--account", mara.uid, "note"]] {
            let outcome = try Command(arguments: arguments, environment: ["TOKENSTORE_PATH": scratch.store])
                .runOnTerminal(in: scratch, columns: 300)
            #expect(outcome.status == 0)
            #expect(!outcome.output.unicodeScalars.contains { "\u{1B}\u{07}\u{9B}".unicodeScalars.contains($0) })
        }
        #expect(try scratch.run("claims", "--account", mara.uid, "note").output == "a\u{1B}[2Jb\nc\n")
        #expect(try scratch.run("list").lines[1].hasPrefix("ma\\u{1b}]0;x\\u{7}ra\\u{9b}31m\\u{202e}  "))
    }

    @Test func `control and hidden characters are escaped in text and in JSON`() throws {
        let scratch = try ScratchDirectory()
        let obeyed = "\u{202E}\u{2028}\u{2029}\u{2066}\u{200B}\u{FEFF}\u{AD}\u{E0041}\u{85}\u{61C}\u{180E}\u{3164}"
        var mara = CachedUser.mara
        mara.username = "a\u{200D}b\u{FE0F}\(obeyed)"
        mara.claims["note"] = ["k\(obeyed)": obeyed]
        // What belongs to a script or an emoji stays.
        let shown = "\u{1F469}\u{200D}\u{1F680} \u{2764}\u{FE0F} 1\u{FE0F}\u{20E3} \u{645}\u{6CC}\u{200C}\u{62E}"
        mara.claims["name"] = shown
        try scratch.fill(mara)
        for arguments in [["list", "--json"], ["claims", "--json"], ["list"], ["claims"]] {
            let outcome = try scratch.run(arguments[0], arguments.count > 1 ? arguments[1] : "--no-color")
            #expect(outcome.status == 0)
            #expect(!outcome.output.unicodeScalars.contains { obeyed.unicodeScalars.contains($0) }, "\(arguments)")
        }
        let list = try scratch.run("list", "--json")
        #expect(list.output.contains(#"a\u200db\ufe0f\u202e\u2028\u2029\u2066\u200b\ufeff\u00ad\udb40\udc41\u0085"#))
        let account = (try list.json["accounts"] as? [[String: Any]])?.first
        #expect((account?["username"] as? String)?.unicodeScalars.elementsEqual(mara.username.unicodeScalars) == true)
        #expect(try scratch.run("claims").output.contains(shown))
    }

    @Test func `wide characters take two columns`() throws {
        let scratch = try ScratchDirectory()
        var mara = CachedUser.mara
        mara.username = "漢字テスト@example.net"
        try scratch.fill(mara, .ivo)
        let lines = try scratch.run("list").lines
        let wide = try #require(lines.first { $0.hasPrefix("漢") }?.firstRange(of: "https"))
        let narrow = try #require(lines.first { $0.hasPrefix("ivo") }?.firstRange(of: "https"))
        let wideLine = try #require(lines.first { $0.hasPrefix("漢") })
        let narrowLine = try #require(lines.first { $0.hasPrefix("ivo") })
        #expect(wideLine[..<wide.lowerBound].count + 5 == narrowLine[..<narrow.lowerBound].count)
    }
}
