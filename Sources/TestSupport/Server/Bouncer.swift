import Foundation
package import PostgreSQL

/// pgbouncer in front of a test's server, ended with the value.
package final class Bouncer {
    package static let program = ["/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/opt/homebrew/bin/pgbouncer"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    package let directory = "/tmp/tokenstore-pgb-\(UUID().uuidString.prefix(8))"
    private let process = Process()
    private let lifeline: FileHandle

    /// Starts it with so many `sessions` of the server; `ignored` are the parameters of a session's start that it drops
    /// silently.
    package init(
        _ server: TestServer,
        ignoring ignored: String = "",
        authentication: String = "any",
        mode: String = "transaction",
        sessions: Int = 2
    ) throws {
        let settings = """
            [databases]
            \(Self.line(server))
            [pgbouncer]
            unix_socket_dir = \(directory)
            listen_port = 6432
            auth_type = \(authentication)
            auth_file = \(directory)/users
            pool_mode = \(mode)
            default_pool_size = \(sessions)
            ignore_startup_parameters = \(ignored)
            logfile = \(directory)/log
            pidfile = \(directory)/pid

            """
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try Data(settings.utf8).write(to: URL(filePath: directory + "/settings"))
        try Data("\"owner\" \"\"\n".utf8).write(to: URL(filePath: directory + "/users"))
        if geteuid() == 0 { try Shell.run("/bin/chown", "-R", "nobody:nogroup", directory) }
        let become = geteuid() == 0 ? "setpriv --reuid=nobody --regid=nogroup --clear-groups" : ""
        let watch = #"""
            \#(become) "$1" -q "$0/settings" > /dev/null 2>&1 < /dev/null &
            pooler=$!
            trap '' INT TERM HUP
            cat > /dev/null
            kill -KILL $pooler; wait $pooler; rm -rf "$0"
            """#
        process.executableURL = URL(filePath: "/bin/bash")
        guard let program = Self.program else { throw TestServer.Failure(log: "pgbouncer is not installed") }
        process.arguments = ["-c", TestServer.dropInherited + watch, directory, program]
        let (reading, writing) = try TestServer.pipe()
        lifeline = writing
        process.standardInput = reading
        try Self.withAllSignals { try process.run() }
        try reading.close()
        let deadline = Date.now + 20
        while !log.contains("process up"), Date.now < deadline { usleep(10_000) }
    }

    /// Runs `body` with no signal blocked, as a program that it starts has the mask of the thread.
    private static func withAllSignals(_ body: () throws -> Void) rethrows {
        var (none, before) = (sigset_t(), sigset_t())
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try body()
    }

    /// Where it finds the database.
    private static func line(_ server: TestServer) -> String {
        "tests = host=\(server.directory) port=\(server.port) user=owner"
    }

    /// Has it use another server from now on, for the clients too that it has.
    package func lead(to server: TestServer) throws {
        let settings = URL(filePath: directory + "/settings")
        let lines = try String(contentsOf: settings, encoding: .utf8).components(separatedBy: "\n")
        let changed = lines.map { $0.hasPrefix("tests = ") ? Self.line(server) : $0 }
        try Data(changed.joined(separator: "\n").utf8).write(to: settings)
        let number = try String(contentsOfFile: directory + "/pid", encoding: .utf8)
        guard let process = Int32(number.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw TestServer.Failure(log: log)
        }
        kill(process, SIGHUP)
    }

    private var log: String { (try? String(contentsOfFile: directory + "/log", encoding: .utf8)) ?? "" }

    deinit {
        try? lifeline.close()
        process.waitUntilExit()
    }

    /// The address for the owner of everything.
    package func address(_ query: String = "&pooler=transaction", schema: String = "public") throws -> ServerAddress {
        try ServerAddress(
            "postgresql://owner@/tests?host=\(directory)&port=6432&schema=\(schema)" + query,
            origin: .argument
        ) { _ in nil }
    }

    package func connect(_ query: String = "&pooler=transaction") throws -> Connection {
        try Connection(to: try address(query))
    }
}
