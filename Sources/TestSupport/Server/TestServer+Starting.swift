package import Foundation
import Sealing

extension TestServer {
    struct Template: Sendable {
        let directory: String
        /// Open until the process ends.
        let lifeline: FileHandle
    }

    /// An initialized directory, which each server starts with a copy of; removed when the test process has ended.
    static let template = Result {
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
    static func newDirectory() -> String { "\(parent)/tokenstore-pg-\(UUID().uuidString.prefix(8))" }

    /// Memory where it has room: each store is a hundred files.
    private static let parent: String = {
        let memory = "/dev/shm"
        let attributes = try? FileManager.default.attributesOfFileSystem(forPath: memory)
        let hasRoom = attributes?[.systemFreeSize] as? Int ?? 0 > 4 << 30
        return hasRoom && access(memory, W_OK | X_OK) == 0 ? memory : "/tmp"
    }()

    /// A server refuses to run as root.
    package static var unprivileged: String {
        geteuid() == 0 ? "exec setpriv --reuid=nobody --regid=nogroup --clear-groups " : "exec "
    }

    static func own(_ directory: String) throws {
        try Shell.run("/bin/chmod", "700", directory)
        if geteuid() == 0 { try Shell.run("/bin/chown", "-R", "nobody:nogroup", directory) }
    }

    func start(_ lifeline: FileHandle) throws {
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
    static func removeAtExit(_ directory: String) throws -> FileHandle {
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
