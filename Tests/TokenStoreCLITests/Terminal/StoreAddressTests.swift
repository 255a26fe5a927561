import TestTraits
import Testing

/// A server's address that is written wrongly: no file is made of it, and no password is shown.
@Suite(.onWaitingThreads)
struct StoreAddressTests {
    @Test(
        arguments: [
            "Postgresql://own:hunter2@db.example/sess", "postgresql:/own:hunter2@db/sess", "http://own:hunter2@db/sess",
            "host=db.example dbname=sess password=hunter2", "postgres:own:hunter2@db",
        ]
    )
    func `a mistyped address ends with 64 and the right form, and is not shown`(text: String) throws {
        let scratch = try ScratchDirectory()
        for arguments in [["list"], ["status", "--json"], ["import"], ["--store", text, "list"]] {
            let given = arguments.contains(text) ? arguments : arguments + ["--store", text]
            let outcome = try scratch.command(given)
            #expect(outcome.status == 64, "\(arguments)")
            #expect(outcome.output.isEmpty)
            #expect(outcome.error.replacing("\\/", with: "/").contains("postgresql://HOST/DATABASE"))
            #expect(!outcome.error.contains("hunter2"))
        }
        #expect(try scratch.names == [])
    }

    @Test func `TOKENSTORE_DATABASE_URL that is a path ends with 64, and makes no file`() throws {
        let scratch = try ScratchDirectory()
        let environment = ["TOKENSTORE_PATH": "", "TOKENSTORE_DATABASE_URL": scratch.path("hunter2.db")]
        for command in ["list", "import"] {
            let outcome = try scratch.command([command], environment)
            #expect(outcome.status == 64)
            #expect(outcome.error.contains("set TOKENSTORE_DATABASE_URL to postgresql://HOST/DATABASE"))
            #expect(!outcome.error.contains("hunter2"))
        }
        #expect(try scratch.names == [])
    }

    @Test func `a file with the name of an address is named with its directory`() throws {
        let scratch = try ScratchDirectory()
        let file = scratch.path("host=db")
        let made = try scratch.command(["import", "--store", file], input: CachedUser.cache([.mara]))
        #expect(made.status == 0, "\(made.error)")
        #expect(try scratch.names.contains("host=db"))
        #expect(try scratch.command(["list", "--store", file]).lines.count == 2)
    }
}
