import PostgreSQL
import TestSupport
import Testing

/// An address as it is printed is an address again.
struct PrintedAddressTests {
    private func address(_ text: String, _ environment: [String: String] = [:]) throws -> ServerAddress {
        try ServerAddress(text, origin: .environment, environment: { environment[$0] })
    }

    private static let texts = [
        "postgresql://db.example/sessions", "Postgres://db.example:5432/sessions", "postgresql:///db",
        "postgresql://a,b:5433,[2001:db8::1]:5434,[::1]/db?sslmode=verify-full", "postgresql://a:,b:2/db",
        "postgresql:///so?host=/tmp/rv&port=7711", "postgresql://%2Ftmp%2Frv:7711/so", "postgresql://%40abstract/db",
        "postgresql:///db?host=/tmp/a:b&port=1", "postgresql:///db?host=/tmp/a%20%25%23%3F%26b",
        "postgresql://:7711/db", "postgresql:///db?host=", "postgresql:///db?port=7711",
        "postgresql:///db?host=/absent,/tmp/rv&port=1,2",
        "postgresql://[fe80::1%eth0]:5433/db", "postgresql://%5B%3A%3A1%5D/db", "postgresql:///db?host=::1",
        "postgresql://me@localhost/db", "postgresql://me%40home%2Fx%3Ay@localhost/db",
        "postgresql://localhost/db?user=",
        "postgresql://localhost/a%2Fb%3Fc%23d%20%C3%A9%CC%81%25", "postgresql://localhost/db?user=a@b",
        "postgresql://localhost/db?schema=tokenstore", "postgresql://localhost/db?schema=s&pooler=transaction",
        "postgresql://localhost/db?sslmode=require&sslrootcert=/etc/a%26b%3Dc.pem&sslcert=/c.pem&sslkey=/k.pem&sslcrl=/x",
        "postgresql://localhost/db?target_session_attrs=any&connect_timeout=9&application_name=a+b%20c%0A",
        "postgresql://localhost/db?passfile=/home/me/.pgpass&channel_binding=require&ssl_min_protocol_version=TLSv1.3",
        "postgresql:///?service=store", "postgresql://own:5432/db?service=store&sslmode=verify-full",
        "postgresql://localhost/db?service=store&schema=tokenstore&connect_timeout=3",
    ]

    private static let environments: [[String: String]] = [
        [:], ["PGHOST": "other.example", "PGPORT": "6000", "PGUSER": "some one", "PGDATABASE": "other"],
        ["PGSSLMODE": "verify-full", "PGSSLROOTCERT": "/etc/root ca.pem", "PGPASSFILE": "/p"],
    ]

    @Test(arguments: texts, environments)
    func `reading a printed address gives an equal one`(text: String, environment: [String: String]) throws {
        let directory = try TemporaryDirectory()
        let service = "[store]\nhost=db.example\nport=5444\ndbname=sessions\nschema=s\nuser=app\npassword=planted\n"
        var environment = environment
        environment["PGSERVICEFILE"] = try directory.write(service, to: "services")
        let found = try address(text, environment)
        let printed = found.fullDescription
        let again = try ServerAddress(printed, origin: .argument, environment: { environment[$0] })
        #expect(again == found, "\(printed)")
        #expect(again.fullDescription == printed)
        #expect(again.description == found.description)
        #expect(printed.utf8.allSatisfy { (0x21...0x7E).contains($0) }, "\(printed)")
        // Where nothing but the service is left open, no variable is needed.
        if !text.contains("service=") { #expect(try address(printed) == found) }
        // The short form leads to the same place.
        let short = try address(found.description)
        #expect(short.hosts == found.hosts)
        #expect(short.database == found.database)
        #expect(short.schema == found.schema)
    }

    @Test(
        arguments: [
            ("postgresql:///so?port=7711&host=/tmp/rv", "postgresql://%2Ftmp%2Frv:7711/so"),
            ("postgresql://%2Ftmp%2Frv/so", "postgresql://%2Ftmp%2Frv/so"),
            ("POSTGRES://db.example:5432/sessions", "postgresql://db.example:5432/sessions"),
            ("postgresql://[2001:db8::1]:5434,b/db", "postgresql://[2001:db8::1]:5434,b:5432/db"),
            (
                "postgresql://me@h/db?sslrootcert=/ca.pem&schema=s&pooler=transaction",
                "postgresql://me@h/db?pooler=transaction&schema=s&sslrootcert=%2Fca.pem"
            ),
        ]
    )
    func `a printed address has what was given, in one order`(text: String, printed: String) throws {
        #expect(try address(text).fullDescription == printed)
    }

    @Test func `a service stays in a printed address, as it may hold the password`() throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write("[store]\nhost=db.example\nport=5432\npassword=planted\n", to: "services")
        let found = try address("postgresql://me@/db?service=store", ["PGSERVICEFILE": file])
        #expect(found.fullDescription == "postgresql://me@db.example:5432/db?service=store")
        let other = try address("postgresql://me@/db", ["PGSERVICEFILE": file, "PGSERVICE": "store"])
        #expect(other.fullDescription == "postgresql://me@db.example:5432/db")
    }

    @Test func `no printed address has a password`() throws {
        let printed = try address(
            "postgresql://me:planted%21@localhost/db?sslpassword=planted2&sslkey=/k",
            ["PGPASSWORD": "planted3"]
        ).fullDescription
        #expect(printed == "postgresql://me@localhost/db?sslkey=%2Fk")
        let plain = try address("postgresql://me@localhost/db?sslkey=/k")
        #expect(try address(printed) == plain)
        #expect(try address("postgresql://me@localhost/db", ["PGPASSWORD": "planted"]).fullDescription.hasSuffix("/db"))
    }

    @Test func `addresses of one meaning are equal, however they are written`() throws {
        #expect(try address("postgresql://h:5432/db?schema=tokenstore") == address("postgres://h/db"))
        #expect(try Set([address("postgresql://h:5432/db"), address("postgresql://h/db")]).count == 1)
    }
}
