import OAuth
import TestSupport
import Testing
import TokenStorage

/// What the text that names a store is taken for: a file, a server, or a mistake.
struct StoreLocationTests {
    private static let mistyped = [
        "postgresql:/own:hunter2@db/sess", "postgresql:own:hunter2@db/sess", "Postgres:own:hunter2", "POSTGRESQL:",
        "http://own:hunter2@db.example/sess", "HTTPS://hunter2", "mysql://own:hunter2@db/sess",
        "jdbc:postgresql://db/sess?password=hunter2", "postgresql+tls://own:hunter2@db/sess", "file:///hunter2",
        " postgresql://own:hunter2@db/sess", "\tPostgres:/own:hunter2@db", "\"postgresql://own:hunter2@db/sess\"",
        "host=db.example dbname=sess password=hunter2", "password=hunter2", "Host = db.example password = hunter2",
        "application_name=x  hostaddr=10.0.0.1 password=hunter2", "x dbname=hunter2", "service=hunter2",
        "user=own password=hunter2 host=/run/postgresql", "sslrootcert=/ca.pem host=db password=hunter2",
        "https://hunter2:x@db/host=a",
    ]

    private func refusal(_ body: () throws -> StoreLocation) -> TokenStoreError? {
        #expect(throws: TokenStoreError.self) { _ = try body() }
    }

    @Test(arguments: mistyped, [true, false])
    func `a mistyped address is refused, not repeated, and shown the right form`(text: String, isArgument: Bool) {
        for error in [
            refusal { try StoreLocation(text, isArgument: isArgument) },
            refusal { try .standard(environment: ["TOKENSTORE_PATH": text]) },
        ] {
            #expect(error?.code == .invalidArgument)
            #expect(error?.remedy?.advice.contains("postgresql://HOST/DATABASE") == true)
            #expect(error?.remedy?.advice.contains("./") == true)
            #expect(error.map { "\($0) \($0.problem)".contains("hunter2") } == false)
        }
    }

    @Test func `capital letters of the scheme change nothing`() throws {
        let location = try StoreLocation("PostgreSQL://own:hunter2@db.example/sess")
        #expect(location.path == nil)
        #expect(location.description == "postgresql://db.example/sess")
        let refused = refusal { try StoreLocation("Postgresql://own:hunter2@db.example/sess", isArgument: true) }
        #expect(refused?.code == .invalidArgument)
        #expect(refused?.problem.contains("a password in an argument") == true)
        #expect(refused?.problem.contains("hunter2") == false)
        #expect(refused?.remedy?.advice.contains("postgresql://HOST/DATABASE") == true)
    }

    @Test(
        arguments: [
            "./host=db.example", "./postgresql:x", "/tmp/password=x", "dir/user=x", "../my dbname=x", "./http://x",
            "host", "localhost", "my host", "hosts=x", "x=y.db", "hostile=1", "a:b", "tokenstore.db", "~/x", "C:/x",
            "postgresql", "postgres/x", "//host/x", "/a://b", "dir/a://b", "password", "a =b",
        ]
    )
    func `any other text is the path of a file`(text: String) throws {
        #expect(try StoreLocation(text, isArgument: true) == StoreLocation(StorePath(text)))
    }

    @Test func `TOKENSTORE_DATABASE_URL has to be an address, which TOKENSTORE_PATH need not be`() throws {
        for text in Self.mistyped + ["./hunter2", "/hunter2", "hunter2"] {
            let refused = refusal { try .standard(environment: ["TOKENSTORE_DATABASE_URL": text]) }
            #expect(refused?.code == .invalidArgument)
            #expect(refused?.remedy?.advice.contains("TOKENSTORE_DATABASE_URL to postgresql://HOST/DATABASE") == true)
            #expect(refused?.problem.contains("hunter2") == false)
        }
        let place = "postgresql://own:hunter2@db.example/sess"
        let found = try StoreLocation.standard(environment: ["TOKENSTORE_DATABASE_URL": place, "TOKENSTORE_PATH": ""])
        #expect(found.description == "postgresql://db.example/sess")
        let both = ["TOKENSTORE_DATABASE_URL": place, "TOKENSTORE_PATH": "/a/b.db"]
        #expect(try StoreLocation.standard(environment: both) == StoreLocation(StorePath("/a/b.db")))
        let none = try StoreLocation.standard(environment: ["TOKENSTORE_DATABASE_URL": "", "HOME": "/h"])
        #expect(none.path != nil)
    }

    @Test func `a location in full leads to the same store, and is known by each of its forms`() throws {
        let location = try StoreLocation("postgresql://me:hunter2@/so?host=/tmp/rv&port=7711&schema=s")
        #expect(location.description == "postgresql://%2Ftmp%2Frv:7711/so?schema=s")
        #expect(location.fullDescription == "postgresql://me@%2Ftmp%2Frv:7711/so?schema=s")
        #expect(location.isDescribed(by: location.description))
        #expect(location.isDescribed(by: "postgresql://another@%2Ftmp%2Frv:7711/so?schema=s"))
        #expect(!location.isDescribed(by: "postgresql://me@%2Ftmp%2Frv:7711/so"))
        #expect(!location.isDescribed(by: "another place"))
        let file = StoreLocation(StorePath("/tmp/host=x"))
        #expect(file.fullDescription == file.description)
        #expect(file.isDescribed(by: file.fullDescription))
    }
}
