package import Foundation
package import PostgreSQL
import Sealing

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
    private let process = Process()
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
                "log_destination = stderr", "hot_standby = on",
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

extension TestServer {
    private struct Template: Sendable {
        let directory: String
        /// Open until the process ends.
        let lifeline: FileHandle
    }

    /// An initialized directory, which each server starts with a copy of; removed when the test process has ended.
    private static let template = Result {
        guard let programs else { throw Failure(log: "PostgreSQL is not installed") }
        let directory = TestServer.newDirectory()
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
        try own(directory)
        let lifeline = try removeAtExit(directory)
        let arguments = [
            "-D", directory + "/data", "-U", "owner", "-A", "trust", "--no-sync", "--locale=C", "-E", "UTF8",
            "--no-instructions", "--wal-segsize=1",
        ]
        try Shell.run("/bin/sh", ["-c", unprivileged + #""$0" "$@""#, programs + "/initdb"] + arguments)
        let rules = """
            local all all trust
            local replication all trust
            host all trusted all trust
            hostssl all certified all cert
            host all all all scram-sha-256

            """
        try Data(rules.utf8).write(to: URL(filePath: directory + "/data/pg_hba.conf"))
        let script = """
            CREATE DATABASE tests;
            CREATE USER app PASSWORD 'planted-password';
            CREATE USER trusted;
            CREATE USER certified;
            CREATE USER few CONNECTION LIMIT 1;

            """
        let single = #""$0" --single -D "$1" postgres > /dev/null"#
        try Data(script.replacing(";\n", with: "\n").utf8).write(to: URL(filePath: directory + "/script"))
        try own(directory)
        try Shell.run(
            "/bin/sh",
            "-c",
            unprivileged + "/bin/sh -c '" + single + " < \"$2\"' \"$0\" \"$1\" \"$2\"",
            programs + "/postgres",
            directory + "/data",
            directory + "/script"
        )
        return Template(directory: directory, lifeline: lifeline)
    }

    /// A short path, as that of a socket may have hundred bytes only.
    private static func newDirectory() -> String { "/tmp/tokenstore-pg-\(UUID().uuidString.prefix(8))" }

    /// A server refuses to run as root.
    package static var unprivileged: String {
        geteuid() == 0 ? "exec setpriv --reuid=nobody --regid=nogroup --clear-groups " : "exec "
    }

    private static func own(_ directory: String) throws {
        try Shell.run("/bin/chmod", "700", directory)
        if geteuid() == 0 { try Shell.run("/bin/chown", "-R", "nobody:nogroup", directory) }
    }

    private func start(_ lifeline: FileHandle) throws {
        // A shell watches the pipe: when the test process ends, however it does, the server goes with its directory.
        let watch = #"""
            directory=$0
            "$@" > "$directory/log" 2>&1 < /dev/null &
            server=$!
            trap '' INT TERM HUP
            cat > /dev/null
            kill -CONT $server 2> /dev/null; kill -QUIT $server 2> /dev/null; wait $server
            rm -rf "$directory"
            """#
        guard let programs = Self.programs else { throw Failure(log: "PostgreSQL is not installed") }
        process.executableURL = URL(filePath: "/bin/bash")
        let server = [
            "/bin/sh", "-c", TestServer.unprivileged + #""$0" "$@""#, programs + "/postgres", "-D", directory + "/data",
        ]
        process.arguments = ["-c", Self.dropInherited + watch, directory] + server
        process.standardInput = lifeline
        // A shell says there which of its programs was killed.
        process.standardError = FileHandle.nullDevice
        try process.run()
        try lifeline.close()
        let deadline = Date.now + 30
        while true {
            let state = (try? String(contentsOfFile: directory + "/data/postmaster.pid", encoding: .utf8)) ?? ""
            // The last line of the file says when connections are accepted.
            if state.contains("ready") || state.contains("standby ") { return }
            guard !log.contains("database system is shut down"), Date.now < deadline else { throw Failure(log: log) }
            usleep(10_000)
        }
    }

    /// Removes a directory when the test process has ended.
    private static func removeAtExit(_ directory: String) throws -> FileHandle {
        let (reading, writing) = try pipe()
        let process = Process()
        process.executableURL = URL(filePath: "/bin/bash")
        process.arguments = ["-c", dropInherited + #"cat > /dev/null; rm -rf "$0""#, directory]
        process.standardInput = reading
        try process.run()
        try reading.close()
        return writing
    }

    /// Closes the pipes that a watching shell has inherited.
    ///
    /// If another test starts a program at the same moment, its output would never end. The socket stays by which
    /// `Process` notices that a program has ended.
    package static let dropInherited = #"""
        for file in /dev/fd/*; do
            number=${file##*/}
            [ "$number" -gt 2 ] && [ -p "$file" ] && eval "exec $number>&-"
        done

        """#

    /// A pipe whose ends no other program inherits.
    package static func pipe() throws -> (reading: FileHandle, writing: FileHandle) {
        guard let pipe = PrivatePipe() else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }
        return (
            FileHandle(fileDescriptor: pipe.reading, closeOnDealloc: true),
            FileHandle(fileDescriptor: pipe.writing, closeOnDealloc: true)
        )
    }
}
