#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A program to be run as a separate process.
struct ChildProcess {
    let program: String
    let arguments: [String]

    /// Nil where it is this process's own.
    private let environment: CTexts?

    /// A process has `environment` beside what this one has.
    init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) {
        self.program = program
        self.arguments = arguments
        let variables = { ProcessInfo.processInfo.environment.merging(environment) { $1 } }
        self.environment = environment.isEmpty ? nil : CTexts(variables().map { "\($0)=\($1)" })
    }

    /// Where the shell would find a program, or nil.
    static func path(of name: String) -> String? {
        if name.contains("/") { return name }
        let places = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
        return places.split(separator: ":").map { "\($0)/\(name)" }.first(where: FileManager.default.isExecutableFile)
    }

    /// This program again, doing a child's work.
    static func this(_ work: String...) -> ChildProcess { ChildProcess(thisProgram, ["child"] + work) }

    static var thisProgram: String {
        #if os(Linux)
        return FileLink.target(of: "/proc/self/exe") ?? CommandLine.arguments[0]
        #else
        return CommandLine.arguments[0]
        #endif
    }

    /// Runs the program to its end with its output thrown away.
    func run() throws -> Ended { try start().wait() }

    /// Runs the program by way of a small process, and returns the most memory it had.
    ///
    /// Linux counts what the starting process had as the started one's, and this one has made large stores.
    func peakMegabytes() throws -> Double {
        let measuring = ChildProcess(Self.thisProgram, ["child", "peak", "--", program] + arguments)
        guard let megabytes = Double(try measuring.output()) else {
            throw BenchFailure("the memory of \(program) cannot be measured")
        }
        return megabytes
    }

    /// Runs the program to a good end and returns what it prints.
    func output(errors: Int32? = nil) throws -> String {
        let pipe = try Pipe()
        let running = try start(output: pipe.writing, errors: errors)
        pipe.closeWriting()
        let text = String(decoding: pipe.rest(), as: UTF8.self)
        guard try running.wait().isSuccess else { throw BenchFailure("\(program) failed") }
        return text
    }

    /// Runs the program to its end with everything it says in a new file.
    func run(outputTo file: String) throws -> Ended {
        let descriptor = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw BenchFailure("\(file) cannot be created, error \(errno)") }
        defer { close(descriptor) }
        return try start(output: descriptor, errors: descriptor).wait()
    }

    /// Starts the program; a descriptor that is not given is `/dev/null`.
    func start(input: Int32? = nil, output: Int32? = nil, errors: Int32? = nil) throws -> RunningProcess {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (descriptor, given) in [(0 as Int32, input), (1, output), (2, errors)] {
            if let given {
                posix_spawn_file_actions_adddup2(&actions, given, descriptor)
            } else {
                posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
            }
        }
        let texts = CTexts([program] + arguments)
        var vector = texts.vector
        var variables = environment?.vector ?? []
        var process: pid_t = 0
        let start = Stopwatch.now()
        let result = variables.withUnsafeMutableBufferPointer {
            posix_spawn(&process, program, &actions, nil, &vector, $0.isEmpty ? environ : $0.baseAddress)
        }
        guard result == 0 else { throw BenchFailure("\(program) cannot be started, error \(result)") }
        return RunningProcess(id: process, start: start)
    }

    /// How a process ended, and what it used.
    struct Ended {
        let status: Int32
        let seconds: Double

        /// At least what the process had that started it, if that was more.
        let peakMegabytes: Double

        var isSuccess: Bool { status == 0 }

        /// The signal that killed it, or nil.
        var signal: Int32? { status & 0x7F == 0 ? nil : status & 0x7F }

        /// What it returned, unless a signal killed it.
        var code: Int32? { status & 0x7F == 0 ? status >> 8 & 0xFF : nil }
    }
}

/// A started process, which the caller must wait for.
struct RunningProcess {
    let id: pid_t
    let start: Double

    func kill() { send(SIGKILL) }

    func send(_ signal: Int32) {
        #if canImport(Glibc)
        _ = Glibc.kill(id, signal)
        #elseif canImport(Musl)
        _ = Musl.kill(id, signal)
        #else
        _ = Darwin.kill(id, signal)
        #endif
    }

    /// Whether it is only to be waited for.
    var hasEnded: Bool {
        var information = siginfo_t()
        let found = waitid(P_PID, id_t(id), &information, WEXITED | WNOHANG | WNOWAIT)
        return found == 0 && information.si_signo == SIGCHLD
    }

    func wait() throws -> ChildProcess.Ended {
        var status: Int32 = 0
        var usage = rusage()
        while wait4(id, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw BenchFailure("process \(id) cannot be waited for, error \(errno)") }
        }
        #if canImport(Darwin)
        let bytes = Double(usage.ru_maxrss)
        #else
        let bytes = Double(usage.ru_maxrss) * 1_024
        #endif
        return ChildProcess.Ended(
            status: status,
            seconds: Stopwatch.now() - start,
            peakMegabytes: bytes / 1e6
        )
    }
}

enum FileLink {
    /// Where a symbolic link points, or nil if it is not one.
    static func target(of path: String) -> String? {
        withUnsafeTemporaryAllocation(of: CChar.self, capacity: Int(PATH_MAX)) { buffer in
            guard let start = buffer.baseAddress else { return nil }
            let count = readlink(path, start, buffer.count)
            guard count > 0 else { return nil }
            return String(decoding: UnsafeRawBufferPointer(buffer).prefix(count), as: UTF8.self)
        }
    }
}
