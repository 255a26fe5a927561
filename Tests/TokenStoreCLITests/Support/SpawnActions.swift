import Foundation

/// What a new process finds open, and how it is started.
struct SpawnActions {
    #if os(Linux)
    private var actions = posix_spawn_file_actions_t()
    private var attributes = posix_spawnattr_t()
    private static let newSession: Int16 = 0x80
    #else
    private var actions: posix_spawn_file_actions_t?
    private var attributes: posix_spawnattr_t?
    private static let newSession: Int16 = 0x400
    #endif

    /// POSIX_SPAWN_SETSIGDEF and POSIX_SPAWN_SETSIGMASK: the threads that run tests hold signals back.
    private static let signals: Int16 = 0x0C

    init() {
        posix_spawn_file_actions_init(&actions)
        // A connection that a server of the tests drops would live on in a program that inherits it.
        for descriptor in Self.openDescriptors where descriptor > STDERR_FILENO {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        posix_spawnattr_init(&attributes)
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigmask(&attributes, &mask)
        sigfillset(&mask)
        posix_spawnattr_setsigdefault(&attributes, &mask)
        posix_spawnattr_setflags(&attributes, Self.signals)
    }

    /// The descriptors of this process; one of them is the listing's own, and closed by then.
    private static var openDescriptors: [Int32] {
        // Where there is no such directory, nothing can be closed.
        ((try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []).compactMap { Int32($0) }
    }

    mutating func open(_ path: String, _ flags: Int32, as descriptor: Int32) {
        posix_spawn_file_actions_addopen(&actions, descriptor, path, flags, 0o600)
    }

    /// Makes the first terminal that the process opens its own.
    mutating func startSession() { posix_spawnattr_setflags(&attributes, Self.newSession | Self.signals) }

    /// How a sanitizer was told to behave holds for the program as it does for its tests.
    private static let sanitizerOptions = ProcessInfo.processInfo.environment.filter { $0.key.hasSuffix("SAN_OPTIONS") }

    /// Starts it with no more environment than given, so that the tests do not depend on who runs them.
    mutating func spawn(
        _ binary: String,
        _ arguments: [String],
        environment: [String: String],
        home: ScratchDirectory
    ) throws -> pid_t {
        let variables = ["HOME": home.path, "PATH": "/usr/bin:/bin"].merging(environment) { $1 }
            .merging(Self.sanitizerOptions) { $1 }
        let words = ([binary] + arguments).map { strdup($0) } + [nil]
        let settings = variables.map { strdup("\($0)=\($1)") } + [nil]
        defer { for text in words + settings { free(text) } }
        var process = pid_t()
        let result = posix_spawn(&process, binary, &actions, &attributes, words, settings)
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
        guard result == 0 else { throw POSIXError(POSIXErrorCode(rawValue: result) ?? .EINVAL) }
        return process
    }

    static func wait(for process: pid_t) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }
}
