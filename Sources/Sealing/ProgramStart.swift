import CProcess

#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#else
package import Darwin
#endif

/// How another program is started: by no shell, with nothing open but what it is given, with no setting that opens the
/// store, and with no signal held back or ignored.
package struct ProgramStart {
    /// What it is made the head of.
    package enum Belonging {
        /// A group, so that what it starts ends with it.
        case group

        /// A session, so that Ctrl-C here does not reach it.
        case session
    }

    private let arguments: [String]
    private let environment: [String: String]
    private let belonging: Belonging

    /// Its standard input, output and error; nil is nothing to read and nowhere to write.
    package var streams: [Int32?] = [nil, nil, nil]

    /// The first of `arguments` is the program, which is looked for as a shell does where it has no slash.
    package init(_ arguments: [String], environment: [String: String], headOf belonging: Belonging) {
        self.arguments = arguments
        self.environment = environment.filter { !$0.key.hasPrefix("TOKENSTORE_") }
        self.belonging = belonging
    }

    /// `POSIX_SPAWN_SETSID`, and on Darwin `POSIX_SPAWN_CLOEXEC_DEFAULT`, which leaves open only what is given.
    #if os(Linux)
    private static let newSession: Int32 = 0x80
    private static let closesOthers: Int32 = 0
    #else
    private static let newSession: Int32 = 0x400
    private static let closesOthers: Int32 = 0x4000
    #endif

    /// Starts it; nil if it cannot be started.
    ///
    /// The caller has to wait for it, or it stays in the process table.
    package func spawn(until end: ContinuousClock.Instant) -> pid_t? {
        guard let program = arguments.first else { return nil }
        #if os(Linux)
        var actions = posix_spawn_file_actions_t()
        var attributes = posix_spawnattr_t()
        #else
        var actions: posix_spawn_file_actions_t?
        var attributes: posix_spawnattr_t?
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, stream) in zip(Int32(0)..., streams) {
            if let stream {
                posix_spawn_file_actions_adddup2(&actions, stream, number)
            } else {
                posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
            }
        }
        guard CProcessCloseOthers(&actions) == 0 else { return nil }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        let head = belonging == .group ? Int32(POSIX_SPAWN_SETPGROUP) : Self.newSession
        posix_spawnattr_setflags(
            &attributes,
            Int16(Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | Self.closesOthers | head)
        )
        let words = arguments.map { strdup($0) } + [nil]
        let settings = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + settings { free(text) } }
        var process = pid_t()
        while true {
            let refusal = posix_spawnp(&process, program, &actions, &attributes, words, settings)
            // Another process is writing the program, or one that was just started still has it open for writing.
            guard refusal == ETXTBSY, ContinuousClock.now < end else { return refusal == 0 ? process : nil }
            usleep(1_000)
        }
    }
}
