import Foundation
package import PostgreSQL

/// A PostgreSQL server of the tests, in a directory of its own, which ends with the test process at the latest.
package final class TestServer: Sendable {
    /// The programs of the newest installed server.
    package static let programs: String? = {
        let manager = FileManager.default
        let debian = (try? manager.contentsOfDirectory(atPath: "/usr/lib/postgresql")) ?? []
        let folders =
            debian.sorted { (Int($0) ?? 0) > (Int($1) ?? 0) }.map { "/usr/lib/postgresql/\($0)/bin" }
            + ["/usr/local/bin", "/usr/bin", "/opt/homebrew/bin"]
        return folders.first { folder in
            ["initdb", "postgres"].allSatisfy { manager.isExecutableFile(atPath: "\(folder)/\($0)") }
        }
    }()

    /// Also says whether libpq is there, which comes with the server.
    package static let isInstalled = programs != nil && (try? Library.load()) != nil

    /// What the server's program says of itself, such as `15.14`.
    package static let version: String? = programs.flatMap { folder in
        let process = Process()
        let output = Pipe()
        process.executableURL = URL(filePath: folder + "/postgres")
        process.arguments = ["--version"]
        process.standardOutput = output
        // Whoever asks for the version can do without it.
        guard (try? process.run()) != nil else { return nil }
        let said = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return said.split(separator: " ").first { $0.first?.isNumber ?? false }.map(String.init)
    }

    /// One server for all tests that do no harm to it.
    package static let shared =
        TestCluster.isWanted ? TestCluster.shared.map(\.coordinator) : Result { try TestServer() }

    package let directory: String
    package let port: Int
    let process = Process()
    let databases = TestDatabases()
    /// As long as this end of a pipe is open, the server runs.
    private let lifeline: FileHandle
    /// As long as this end of a pipe is open, the directory is there.
    private let remover: FileHandle

    package struct Failure: Error {
        package let log: String
    }

    /// Starts a server with the settings, of which each is a line of `postgresql.conf`.
    package init(_ settings: [String] = [], isStandby: Bool = false, isOfCluster: Bool = false) throws {
        let template = try Self.template.get().directory
        let directory = Self.newDirectory()
        self.directory = directory
        port = try UnusedPort().number
        remover = try Self.removeAtExit(directory)
        try Shell.run("/bin/cp", "-a", template, directory)
        let (reading, writing) = try Self.pipe()
        lifeline = writing
        let lines =
            [
                "port = \(port)", "unix_socket_directories = '\(directory)'",
                "listen_addresses = '127.0.0.1,127.0.0.2'",
                "fsync = off", "shared_buffers = 16MB", "max_connections = 400", "logging_collector = off",
                // The launcher would look at one of a hundred databases twice a second.
                "log_destination = stderr", "hot_standby = on", "autovacuum_naptime = 1h",
            ] + settings
        try Data((lines.joined(separator: "\n") + "\n").utf8)
            .write(to: URL(filePath: directory + "/data/postgresql.auto.conf"))
        if isOfCluster { process.environment = try TestCluster.environment(ofServerIn: directory) }
        if isStandby { try Data().write(to: URL(filePath: directory + "/data/standby.signal")) }
        try Self.own(directory)
        try start(reading)
    }

    /// Starts a standby of another: both begin with copies of one directory, so it lacks nothing that the other has.
    package convenience init(following other: TestServer, _ own: [String] = []) throws {
        let place = "primary_conninfo = 'host=\(other.directory) port=\(other.port) user=owner'"
        try self.init([place] + own, isStandby: true)
    }

    deinit { stop() }

    /// Ends the server, and removes its directory.
    package func stop() {
        try? lifeline.close()
        process.waitUntilExit()
        try? remover.close()
    }

    /// The address for a user over the Unix socket, as which nobody is asked for a password.
    package func address(
        _ query: String = "",
        database: String = "tests",
        user: String = "owner",
        schema: String = "public"
    ) throws -> ServerAddress {
        try ServerAddress(
            "postgresql://\(user)@/\(database)?host=\(directory)&port=\(port)&schema=\(schema)" + query,
            origin: .argument,
            environment: { _ in nil }
        )
    }

    /// The address for a user over TCP.
    package func remoteAddress(
        _ host: String = "127.0.0.1",
        _ query: String = "",
        user: String = "app",
        password: String? = "planted-password"
    ) throws -> ServerAddress {
        try ServerAddress(
            "postgresql://\(user)\(password.map { ":\($0)" } ?? "")@\(host):\(port)/tests?schema=public" + query,
            origin: .environment,
            environment: { _ in nil }
        )
    }

    package func connect(
        _ query: String = "",
        user: String = "owner",
        options: Connection.Options = .init()
    ) throws -> Connection {
        try Connection(to: try address(query, user: user), options: options)
    }

    /// The process that starts all others of the server.
    package var mainProcess: Int32 {
        get throws {
            let text = try String(contentsOfFile: directory + "/data/postmaster.pid", encoding: .utf8)
            guard let number = text.split(separator: "\n").first.flatMap({ Int32($0) }) else {
                throw Failure(log: text)
            }
            return number
        }
    }

    /// Kills every process of the server, as a power failure would.
    package func kill() throws {
        let main = try mainProcess
        // Held still, it does not see to the others' end before its own.
        Foundation.kill(main, SIGSTOP)
        let processes = try Shell.run("/bin/sh", "-c", Self.processes).split(separator: "\n").map {
            $0.split(separator: " ")
        }
        for process in processes where process.count == 2 && Int32(process[1]) == main {
            if let number = Int32(process[0]) { Foundation.kill(number, SIGKILL) }
        }
        Foundation.kill(main, SIGKILL)
    }

    /// Prints each process with its parent.
    private static var processes: String {
        #if os(Linux)
        // A container may lack `ps`.
        return "cat /proc/[0-9]*/stat 2> /dev/null | sed 's/^\\([0-9]*\\) (.*) . \\([0-9]*\\) .*/\\1 \\2/'"
        #else
        return "ps -axo pid=,ppid="
        #endif
    }

    /// What the server has logged.
    package var log: String { (try? String(contentsOfFile: directory + "/log", encoding: .utf8)) ?? "" }
}
