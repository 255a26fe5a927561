import Foundation
import PostgreSQL
import TestSupport
import Testing

struct ServerAddressTests {
    private func address(
        _ text: String,
        origin: ServerAddress.Origin = .argument,
        _ environment: [String: String] = [:]
    ) throws -> ServerAddress {
        try ServerAddress(text, origin: origin, environment: { environment[$0] })
    }

    private func problem(
        _ text: String,
        origin: ServerAddress.Origin = .argument,
        _ environment: [String: String] = [:]
    ) -> String {
        do {
            return "accepted: \(try address(text, origin: origin, environment))"
        } catch {
            return (error as? PostgreSQLError)?.message ?? "\(error)"
        }
    }

    @Test(arguments: ["postgresql://web:p@ss/w0rd@127.0.0.1/db", "postgresql://web:12345/w0rd@127.0.0.1/db"])
    func `a password with a slash is asked to be escaped, and not repeated`(text: String) throws {
        for origin in [ServerAddress.Origin.argument, .environment] {
            let problem = problem(text, origin: origin)
            #expect(problem.contains("%2F"))
            for part in ["@ss", "12345", "w0rd"] { #expect(!problem.contains(part)) }
        }
    }

    @Test func `an address names hosts, ports, database, schema and pooler`() throws {
        let found = try address(
            "postgresql://me@db1.example,db2.example:5433,[2001:db8::1]:5434/my%20store?schema=tenant_1&pooler=transaction"
                + "&target_session_attrs=prefer-standby&connect_timeout=7"
        )
        #expect(found.hosts.map(\.name) == ["db1.example", "db2.example", "2001:db8::1"])
        #expect(found.hosts.map(\.port) == [5432, 5433, 5434])
        #expect(found.database == "my store")
        #expect(found.schema == "tenant_1")
        #expect(found.pooler == .transaction)
        #expect(found.target == .preferStandby)
        #expect(found.connectPatience == .seconds(7))
        #expect(!found.isLocal)
    }

    @Test func `a socket's directory is a host, and the schema has a name of its own if none is given`() throws {
        let found = try address("postgresql:///store?host=/run/postgresql&port=5433")
        #expect(found.hosts == [try #require(found.hosts.first)])
        #expect(found.hosts.first?.name == "/run/postgresql")
        #expect(found.hosts.first?.isSocket == true)
        #expect(found.schema == "tokenstore")
        #expect(found.target == .readWrite)
        #expect(found.description == "postgresql://%2Frun%2Fpostgresql:5433/store")
    }

    @Test(arguments: ["?", "&", "=", "#", "/", "%", "@", ":", "?x=", "&x="])
    func `no message repeats what may be a part of a password`(mark: String) {
        let secret = "s3cr3t=1"
        for index in secret.indices {
            let password = secret[..<index] + mark + secret[index...]
            let texts = [
                "postgresql://web:\(password)@127.0.0.1/db", "postgresql:///db?user=web&password=x\(mark)\(password)",
            ]
            for text in texts {
                let message = problem(text, origin: .environment)
                guard !message.hasPrefix("accepted") else { continue }
                for part in ["s3c", "3cr", "cr3", "r3t"] { #expect(!message.contains(part), "\(message)") }
            }
        }
        #expect(problem("postgresql://me@h/db?hostaddr=::1").contains("hostaddr"))
    }

    @Test func `the letters of the scheme may be capital`() throws {
        for scheme in ["Postgresql", "POSTGRES", "postgreSQL"] {
            #expect(try address(scheme + "://h/db") == address("postgresql://h/db"))
        }
        #expect(problem("postgresqls://h/db").contains("does not start with postgresql://"))
    }

    @Test(
        arguments: [
            ("mysql://host/db", "postgresql://"), ("postgresql://host", "database"), ("postgresql://host/", "database"),
            ("postgresql://host/db?colour=red", "colour"), ("postgresql://host/db?schema=A", "schema"),
            ("postgresql://host/db?schema=pg_x", "schema"), ("postgresql://host/db?schema=a;b", "schema"),
            ("postgresql://host:0/db", "port"), ("postgresql://host:99999/db", "port"),
            ("postgresql://host:x/db", "port"), ("postgresql://a,b:1,c:2/db?port=5", "twice"),
            ("postgresql://a,b/db?port=1,2,3", "2 hosts and 3 ports"), ("postgresql://a,,b/db", "empty"),
            ("postgresql://::1/db", "brackets"), ("postgresql://[::1/db", "]"), ("postgresql://h/db%2", "hexadecimal"),
            ("postgresql://h/db%00", "text"), ("postgresql://h/db%ff", "text"), ("postgresql://h/db#x", "fragment"),
            ("postgresql://h/db?pooler=session", "pooler"), ("postgresql://h/db?target_session_attrs=x", "target"),
            ("postgresql://h/db?sslmode=safe", "sslmode"), ("postgresql://h/db?schema=a&schema=b", "twice"),
            ("postgresql://h/db?connect_timeout=0", "connect_timeout"), ("postgresql://h/db?schema", "no value"),
            ("postgresql://h/db?hostaddr=10.0.0.1", "hostaddr"), ("postgresql://h/db?options=-c", "options"),
            ("postgresql://h/db?service=absent", "absent"),
        ]
    )
    func `a bad address is refused with the part that is wrong`(text: String, part: String) {
        let problem = problem(text)
        #expect(problem.hasPrefix("the address of the server cannot be used"))
        #expect(problem.contains(part))
    }

    @Test(
        arguments: [
            "postgresql://me:planted@localhost/db", "postgresql://localhost/db?password=planted",
            "postgresql://localhost/db?sslpassword=planted", "postgresql://me:@localhost/db",
        ]
    )
    func `a password in an argument is refused and not repeated`(text: String) throws {
        let problem = problem(text)
        #expect(problem.contains("a password in an argument"))
        #expect(!problem.contains("planted"))
        #expect(throws: Never.self) { try address(text, origin: .environment) }
    }

    @Test func `no text made of an address shows who signs in and with what`() throws {
        let found = try address("postgresql://planted-user:planted-word@localhost/db", origin: .environment)
        var dumped = ""
        dump(found, to: &dumped)
        for text in [
            "\(found)", String(reflecting: found), dumped, "\([found])", "\(Mirror(reflecting: found).children)",
        ] {
            #expect(!text.contains("planted"))
        }
        #expect(found.description == "postgresql://localhost/db")
    }

    @Test(arguments: ["disable", "allow", "prefer", "require", "verify-ca"])
    func `anything less than verify-full is refused off this machine`(mode: String) throws {
        for hosts in ["db.example", "127.0.0.1,db.example", "128.0.0.1", "localhost.example", "127.0.0.1.example"] {
            #expect(problem("postgresql://\(hosts)/db?sslmode=\(mode)").contains("verify-full"))
        }
        for hosts in ["localhost", "127.0.0.1", "127.8.9.10", "[::1]", "localhost,[::1]", "%2Frun%2Fpostgresql", ""] {
            #expect(throws: Never.self) { try address("postgresql://\(hosts)/db?sslmode=\(mode)") }
        }
    }

    @Test(arguments: ["disable", "allow", "prefer", "require", "verify-ca"])
    func `PGSSLMODE less than verify-full is refused off this machine, and named`(mode: String) throws {
        let refused = problem("postgresql://db.example/db", ["PGSSLMODE": mode])
        #expect(refused.contains("PGSSLMODE must be verify-full"), "\(refused)")
        let own = try address("postgresql://db.example/db?sslmode=verify-full", ["PGSSLMODE": mode])
        #expect(try own == address("postgresql://db.example/db"))
    }

    @Test func `PGSSLMODE counts on this machine where the address leaves the mode open`() throws {
        let plain = try address("postgresql://localhost/db")
        for mode in ["disable", "require", "verify-full"] {
            let found = try address("postgresql://localhost/db", ["PGSSLMODE": mode])
            #expect(try found == address("postgresql://localhost/db?sslmode=\(mode)"))
            #expect(found != plain)
            #expect(try address("postgresql://localhost/db?sslmode=prefer", ["PGSSLMODE": mode]) == plain)
        }
        #expect(problem("postgresql://localhost/db", ["PGSSLMODE": "safe"]).contains("PGSSLMODE is none of"))
    }

    @Test func `the mode of a service goes before PGSSLMODE`() throws {
        let directory = try TemporaryDirectory()
        let services = try directory.write("[store]\nhost=localhost\nsslmode=require\n", to: "services")
        let environment = ["PGSERVICEFILE": services, "PGSSLMODE": "disable"]
        let found = try address("postgresql:///db?service=store", environment)
        #expect(try found == address("postgresql://localhost/db?sslmode=require"))
    }

    @Test func `what the address leaves open comes from its service, then from the environment`() throws {
        let directory = try TemporaryDirectory()
        let services = try directory.write(
            """
            # services
            [other]
            host=wrong
            [store]
            host=db.example
            dbname=sessions
              user=app
            password=planted
            """,
            to: "services"
        )
        let environment = ["PGSERVICEFILE": services, "PGPORT": "5444", "PGHOST": "wrong", "PGUSER": "wrong"]
        let found = try address("postgresql:///?service=store&schema=s", environment)
        #expect(found.description == "postgresql://db.example:5444/sessions?schema=s")
        #expect(try address("postgresql://own/db?service=store", environment).description == "postgresql://own:5444/db")
        #expect(try address("postgresql:///db", ["PGSERVICE": "store"].merging(environment) { $1 }).database == "db")
        #expect(problem("postgresql://h/db?service=third", environment).contains("third"))
        #expect(problem("postgresql:///db?service=store&sslmode=disable", environment).contains("verify-full"))
    }

    @Test func `of a service that says something twice the first counts, as with libpq`() throws {
        let directory = try TemporaryDirectory()
        let services = try directory.write(
            """
            [store]
            host=db.example
            port=5433
            port=5434
            [other]
            host=wrong
            [store]
            dbname=wrong
            host=wrong
            """,
            to: "services"
        )
        let environment = ["PGSERVICEFILE": services, "PGDATABASE": "sessions"]
        let found = try address("postgresql:///?service=store", environment)
        #expect(try found == address("postgresql://db.example:5433/sessions"))
    }

    @Test func `a service that leads elsewhere is refused, and so is PGHOSTADDR`() throws {
        let directory = try TemporaryDirectory()
        let services = try directory.write("[store]\nhost=localhost\nhostaddr=10.0.0.1\n", to: "services")
        #expect(problem("postgresql:///db?service=store", ["PGSERVICEFILE": services]).contains("hostaddr"))
        let two = ["PGSERVICEFILE": services, "PGSERVICE": "other"]
        #expect(problem("postgresql:///db?service=store", two).contains("PGSERVICE"))
        #expect(problem("postgresql:///db", ["PGHOSTADDR": "10.0.0.1"]).contains("PGHOSTADDR"))
    }
}
