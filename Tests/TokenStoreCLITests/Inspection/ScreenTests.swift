import Foundation
import TestTraits
import Testing

/// What a person sees at a terminal, character by character.
@Suite(.onWaitingThreads)
struct ScreenTests {
    private static let day = 86_400

    private static func user(_ name: String, _ uid: String, _ policy: String, _ days: [Int]) -> CachedUser {
        var user = CachedUser(username: name + "@example.net", uid: uid, policy: policy)
        // An hour more, so that a slow machine shows the same.
        user.lifetimes = days.map { $0 * day + 3600 }
        return user
    }

    /// Names in several scripts, and an account of another issuer.
    private static let people = [
        user("mara", "3f9a7b52", "b2c_1_signin", [3]), user("mara", "3f9a7b52", "b2c_1_editprofile", [-1]),
        user("漢字テスト", "kanji", "b2c_1_signin", [2, -1]), user("👩‍🚀🇪🇺", "emoji", "b2c_1_signin", []),
        user("e\u{301}le\u{300}ve", "marks", "b2c_1_signin", [9]), user("שלום", "rtl", "b2c_1_susi", [40]),
        CachedUser(
            username: "zoe@example.org",
            uid: "zoe",
            tenant: "",
            policy: nil,
            environment: "id.example.net",
            client: "todo-app",
            claims: ["iss": "https://id.example.net/realms/customers-of-harbor/oauth2"],
            lifetimes: [5 * day + 3600],
            hasRefreshToken: false
        ),
    ]

    /// A store that was last used ten days ago, with a default account.
    private func filled() throws -> ScratchDirectory {
        let scratch = try ScratchDirectory()
        guard try scratch.run("import", input: CachedUser.cache(Self.people)).status == 0 else {
            throw POSIXError(.EIO)
        }
        try scratch.age()
        #expect(try scratch.run("use", "mara@example.net", "--policy", "b2c_1_signin").status == 0)
        return scratch
    }

    private static let at60 = """
          USERNAME                POLICY             EXPIRES
          e\u{301}le\u{300}ve@example.net       b2c_1_signin       in 9 d
          mara@example.net        b2c_1_editprofile  -
        * mara@example.net        b2c_1_signin       in 3 d
          zoe@example.org         -                  in 5 d
          שלום@example.net        b2c_1_susi         in 40 d
          漢字テスト@example.net  b2c_1_signin       in 2 d
          👩‍🚀🇪🇺@example.net        b2c_1_signin       -
        without TOKENS, RENEWS, USED, ISSUER, TENANT, CLIENTS
        (all columns: --json, or a pipe)

        """

    private static let at80 = """
          USERNAME                POLICY             EXPIRES  TOKENS        RENEWS
          e\u{301}le\u{300}ve@example.net       b2c_1_signin       in 9 d   1             yes
          mara@example.net        b2c_1_editprofile  -        1 expired     yes
        * mara@example.net        b2c_1_signin       in 3 d   1             yes
          zoe@example.org         -                  in 5 d   1             no
          שלום@example.net        b2c_1_susi         in 40 d  1             yes
          漢字テスト@example.net  b2c_1_signin       in 2 d   1, 1 expired  yes
          👩‍🚀🇪🇺@example.net        b2c_1_signin       -        -             yes
        without USED, ISSUER, TENANT, CLIENTS   (all columns: --json, or a pipe)

        """

    private static let at100 = """
          USERNAME                POLICY             EXPIRES  TOKENS        RENEWS  USED
          e\u{301}le\u{300}ve@example.net       b2c_1_signin       in 9 d   1             yes     10 d ago
          mara@example.net        b2c_1_editprofile  -        1 expired     yes     10 d ago
        * mara@example.net        b2c_1_signin       in 3 d   1             yes     10 d ago
          zoe@example.org         -                  in 5 d   1             no      10 d ago
          שלום@example.net        b2c_1_susi         in 40 d  1             yes     10 d ago
          漢字テスト@example.net  b2c_1_signin       in 2 d   1, 1 expired  yes     10 d ago
          👩‍🚀🇪🇺@example.net        b2c_1_signin       -        -             yes     10 d ago
        without ISSUER, TENANT, CLIENTS   (all columns: --json, or a pipe)

        """

    private static let at120 = """
          USERNAME                POLICY             EXPIRES  TOKENS        RENEWS  USED      ISSUER
          e\u{301}le\u{300}ve@example.net       b2c_1_signin       in 9 d   1             yes     10 d ago  harbor.b2clogin.com
          mara@example.net        b2c_1_editprofile  -        1 expired     yes     10 d ago  harbor.b2clogin.com
        * mara@example.net        b2c_1_signin       in 3 d   1             yes     10 d ago  harbor.b2clogin.com
          zoe@example.org         -                  in 5 d   1             no      10 d ago  id.example.net/…f-harbor/oauth2
          שלום@example.net        b2c_1_susi         in 40 d  1             yes     10 d ago  harbor.b2clogin.com
          漢字テスト@example.net  b2c_1_signin       in 2 d   1, 1 expired  yes     10 d ago  harbor.b2clogin.com
          👩‍🚀🇪🇺@example.net        b2c_1_signin       -        -             yes     10 d ago  harbor.b2clogin.com
        without TENANT, CLIENTS   (all columns: --json, or a pipe)

        """

    @Test(arguments: [(60, at60), (80, at80), (100, at100), (120, at120)] as [(UInt16, String)])
    func `list takes whole columns from the front while they fit`(columns: UInt16, expected: String) throws {
        let outcome = try filled().runOnTerminal("list", "--no-color", columns: columns)
        #expect(outcome.output == expected)
    }

    @Test func `at 200 columns a list has every column, and short ids`() throws {
        let lines = try filled().runOnTerminal("list", "--no-color", columns: 200).lines
        #expect(lines[0].hasSuffix("  ISSUER                           TENANT     CLIENTS"))
        #expect(lines[3].hasSuffix("  harbor.b2clogin.com              7c2f6d1e…  a0b1c2d3…"))
        #expect(lines[4].hasSuffix("  id.example.net/…f-harbor/oauth2  -          todo-app"))
        #expect(lines.count == 8)
    }

    @Test func `what all accounts share is said once, and a column that is empty is left out`() throws {
        let scratch = try ScratchDirectory()
        try scratch.importHarbor()
        try scratch.age()
        #expect(try scratch.run("use", "mara@example.net", "--policy", "b2c_1_editprofile").status == 0)
        let expected = """
              USERNAME          POLICY             EXPIRES  TOKENS        RENEWS  USED
            * mara@example.net  b2c_1_editprofile  -        1 expired     yes     10 d ago
              mara@example.net  b2c_1_signin       in 73 y  1, 1 expired  yes     10 d ago
              tome@example.net  b2c_1_signin       in 73 y  1             yes     10 d ago
            all at harbor.b2clogin.com, tenant 7c2f6d1e…, client a0b1c2d3…   (all columns: --json, or a pipe)

            """
        #expect(try scratch.runOnTerminal("list", "--no-color", columns: 100).output == expected)
        let narrow = try scratch.runOnTerminal("list", "--no-color", columns: 80).lines
        #expect(narrow[4] == "all at harbor.b2clogin.com, tenant 7c2f6d1e…, client a0b1c2d3…")
        #expect(narrow[5] == "(all columns: --json, or a pipe)")
        let other = try ScratchDirectory()
        try other.fill(.nameless)
        let lines = try other.runOnTerminal("list", "--no-color").lines
        #expect(lines[0].split(separator: " ") == ["USERNAME", "EXPIRES", "TOKENS", "RENEWS", "USED"])
        #expect(lines[2].hasPrefix("at id.example.net//v2.0/, client a0b1c2d3…   "))
    }

    @Test func `the first two columns are shortened only where they stand alone`() throws {
        let lines = try filled().runOnTerminal("list", "--no-color", columns: 30).lines
        #expect(lines[0] == "  USERNAME       POLICY")
        #expect(lines[3] == "* mara@example…  b2c_1_signin")
        #expect(lines[6] == "  漢字テスト@e…  b2c_1_signin")
    }

    @Test func `the default account, yes, no and expired have colours`() throws {
        let output = try filled().runOnTerminal("list", columns: 120).output
        #expect(output.contains("\n\u{1B}[32m*\u{1B}[0m \u{1B}[1mmara@example.net\u{1B}[0m  "))
        #expect(output.contains("\u{1B}[32myes\u{1B}[0m"))
        #expect(output.contains("\u{1B}[31mno\u{1B}[0m"))
        #expect(output.contains("\u{1B}[33m1 expired\u{1B}[0m"))
    }

    @Test(arguments: [60, 80, 100, 120, 200] as [UInt16])
    func `status wraps between words and hangs, at every width`(columns: UInt16) throws {
        let scratch = try filled()
        let lines = try scratch.runOnTerminal("status", "--no-color", columns: columns).lines
        #expect(lines.allSatisfy { $0.count <= Int(columns) })
        #expect(lines[0].contains(#/^store     ~/tokenstore\.db   [0-9.]+ KiB, schema [0-9]+$/#))
        let holdings = "holds     7 accounts, 7 access tokens (2 expired), 6 refresh tokens, 7 ID tokens"
        #expect(lines[1] == (columns >= 80 ? holdings : String(holdings.prefix(lines[1].count))))
        if columns < 80 { #expect(lines[2] == "          " + holdings.dropFirst(lines[1].count + 1)) }
        #expect(lines.contains { $0.contains(#/^key       file beside the database \([0-9a-f]{8}…\), present$/#) })
        #expect(lines.contains { $0.contains(#/^made      (now|[0-9]+ (s|min) ago) by tokenstore /#) })
        let copy = "  no   someone with a copy of the database alone; a copy of the directory has the key"
        #expect(lines.contains(copy) == (columns > 83))
        #expect(lines.suffix(2) == ["  yes  any program of yours", "  yes  root"])
    }

    @Test func `explain says the decision first, then accounts and tokens in columns`() throws {
        let scratch = try ScratchDirectory()
        try scratch.importHarbor()
        let write = "https://harbor.onmicrosoft.com/tasks/write"
        let narrowing = ["--account", "mara@example.net", "--policy", "b2c_1_editprofile"]
        let outcome = try Command(
            arguments: ["explain", "--no-color", "--scope", write] + narrowing,
            environment: ["TOKENSTORE_PATH": scratch.store]
        ).runOnTerminal(in: scratch, columns: 80)
        let output = outcome.output.replacing(/[0-9]+ (d|mo|y) ago/) { _ in "2 mo ago" }
        #expect(
            output == """
                decision  refresh at https://harbor.b2clogin.com/tfp/7c2f6d1e…/b2c_1_editprofile
                          with the refresh token of client a0b1c2d3…, stored 2 mo ago

                accounts  + mara@example.net  b2c_1_editprofile   the only one that fits
                          - mara@example.net  b2c_1_signin        other user flow
                          - tome@example.net  b2c_1_signin        not mara@example.net
                tokens    - …/profile/read    expired 2 mo ago    lacks …/tasks/write

                """
        )
    }

    @Test(arguments: [40, 60, 80, 100, 120, 200] as [UInt16])
    func `explain fits every width without cutting a reason`(columns: UInt16) throws {
        let scratch = try filled()
        let scope = "https://harbor.onmicrosoft.com/profile/read"
        let lines = try scratch.runOnTerminal("explain", "--no-color", "--scope", scope, columns: columns).lines
        // An address is one word, which a person wants to copy.
        let others = lines.filter { !$0.contains("https://") }
        #expect(others.allSatisfy { $0.reduce(0) { $0 + ($1.isASCII ? 1 : 0) } <= Int(columns) })
        let text = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
        #expect(text.contains("another is the default"))
        #expect(text.contains("lacks"))
    }

    @Test(arguments: [60, 80, 100, 120, 200] as [UInt16])
    func `claims wrap between words and hang, and are whole in a pipe`(columns: UInt16) throws {
        let scratch = try ScratchDirectory()
        var mara = CachedUser.mara
        let words = Array(repeating: "harbour", count: 30).joined(separator: " ")
        mara.claims["z_about"] = words
        try scratch.fill(mara)
        let lines = try scratch.runOnTerminal("claims", "--no-color", columns: columns).lines
        let start = try #require(lines.firstIndex { $0.hasPrefix("  z_about") })
        let column = try #require(lines[start].firstRange(of: "harbour")?.lowerBound.utf16Offset(in: lines[start]))
        let indentation = String(repeating: " ", count: column)
        let value = [lines[start]] + lines[(start + 1)...].prefix { $0.hasPrefix(indentation) }
        #expect(value.allSatisfy { $0.count <= Int(columns) })
        #expect(value.joined(separator: " ").split(separator: " ").dropFirst().joined(separator: " ") == words)
        #expect(try scratch.run("claims").output.contains("  \(words)\n"))
    }

    @Test func `--columns and -o tsv give programs what they ask for`() throws {
        let scratch = try filled()
        let table = try scratch.run("list", "-o", "tsv", "--columns", "id,USERNAME,default,valid,expired").lines
        #expect(table[0] == "ID\tUSERNAME\tDEFAULT\tVALID\tEXPIRED")
        #expect(table[3] == "3f9a7b52-b2c_1_signin.7c2f6d1e-5a43-4b8f-9d10-0e6b1a2c3d4e\tmara@example.net\t*\t1\t0")
        #expect(try scratch.run("list", "-o", "tsv").lines[0].split(separator: "\t").count == 10)
        let chosen = try scratch.runOnTerminal("list", "--no-color", "--columns", "policy,clients", columns: 40).lines
        #expect(chosen[0] == "  POLICY             CLIENTS")
        #expect(try scratch.run("list", "--columns", "username").lines.count == 8)
    }

    @Test(arguments: [
        ["--columns", "nothing"], ["--columns", ""], ["-o", "xml"], ["-o", "tsv", "--json"], ["-o", "tsv", "--tokens"],
        ["--columns", "id", "--json"],
    ])
    func `columns and formats that there are not are refused`(options: [String]) throws {
        let scratch = try ScratchDirectory()
        let outcome = try Command(arguments: ["list"] + options).run(in: scratch)
        #expect(outcome.status == 64, "\(outcome.error)")
    }

    @Test func `watch shows what a terminal of its size shows`() throws {
        let scratch = try filled()
        let size = ["COLUMNS": "60", "LINES": "24", "TOKENSTORE_PATH": scratch.store]
        let script = "\"$0\" list 2>&1 | cat"
        let watched = try Command(arguments: ["-c", script, Command.binary], environment: size)
            .runOnTerminal(in: scratch, program: "/bin/sh", typing: [])
        #expect(watched.output == Self.at60)
        // Of a pipe that standard error does not go to nobody knows who reads it.
        let piped = try Command(arguments: ["-c", "\"$0\" list | cat", Command.binary], environment: size)
            .runOnTerminal(in: scratch, program: "/bin/sh", typing: [])
        #expect(piped.lines[0].hasSuffix("  CLIENTS                               DEFAULT"))
    }
}
