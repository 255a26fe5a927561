import CProcess
import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A program that is asked one thing: by no shell, with one word as its argument, and not for ever.
struct HelperProgram {
    let path: String
    let environment: [String: String]
    let patience: Duration
    let longestOutput: Int

    /// Requires that only its user and root can change what runs.
    func requireOwn() throws(SealingError) {
        guard PathParts.isAbsolute(path) else {
            throw .unusableSource("'\(path)' is not an absolute path", .correct("write the path in full"))
        }
        var status = stat()
        guard stat(path, &status) == 0 else {
            throw failure("is not there", .correct("install it, or correct the path of the key source"))
        }
        guard status.st_mode & S_IFMT == S_IFREG, access(path, X_OK) == 0 else { throw failure("is not a program") }
        try requireOwn(path)
        // Behind a symbolic link other directories lead to the program.
        if let target = PathParts.resolved(path) { try requireOwn(target) }
    }

    /// Requires that no one else can change a file or put another in its place.
    private func requireOwn(_ file: String) throws(SealingError) {
        var status = stat()
        var place = file
        while true {
            guard stat(place, &status) == 0 else { throw failure("cannot be looked at") }
            let isShared = status.st_mode & 0o022 != 0
            // In a directory like /tmp no user can replace the file of another.
            let isSticky = status.st_mode & S_IFMT == S_IFDIR && status.st_mode & S_ISVTX != 0
            guard [0, getuid()].contains(status.st_uid), !isShared || isSticky else {
                throw .keyInsecure(
                    "others can change \(place == file ? "the program" : "the directory \(place) of the program") \(path)",
                    .correct("make it yours or root's, and close it with chmod go-w")
                )
            }
            guard place != "/" else { return }
            place = PathParts(place).directory
        }
    }

    /// What the program prints for `input`.
    func run(_ argument: String, _ input: Secret) throws(SealingError) -> Secret {
        let end = ContinuousClock.now + patience
        // It is in a group of its own, which Ctrl-C at the terminal does not reach.
        let (process, answer, hold) = try Self.delayingSignals { () throws(SealingError) in
            let (process, answer) = try start(argument, input, until: end)
            return (process, answer, CProcessHoldGroup(process))
        }
        defer { CProcessReleaseGroup(hold) }
        let output = output(of: answer, until: end)
        // One that has more to say than is taken is not waited for.
        close(answer)
        // What it has started may go on without it, and holds the output; the group is known until the program is
        // waited for.
        if output == nil { kill(-process, SIGKILL) }
        let status = wait(for: process, until: end)
        guard let output, let status else { throw failure("did not answer within \(patience.components.seconds) s") }
        guard output.count <= longestOutput else { throw failure("printed more than a key when it was to \(argument)") }
        guard status == 0 else { throw failure("ended with status \(status) when it was to \(argument)") }
        return output
    }

    /// Runs `body`, which starts a program, while this thread gets no signal that would end it: one that comes before
    /// the program is known would leave that behind.
    private static func delayingSignals<Result>(
        _ body: () throws(SealingError) -> Result
    ) throws(SealingError) -> Result {
        var (signals, previous) = (sigset_t(), sigset_t())
        sigemptyset(&signals)
        for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
        pthread_sigmask(SIG_BLOCK, &signals, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
        return try body()
    }

    private func failure(_ problem: String, _ remedy: Remedy = .correct("try it by hand")) -> SealingError {
        .keyUnavailable("the program \(path) \(problem)", remedy)
    }

    /// Starts the program with its whole input in a pipe.
    private func start(
        _ argument: String,
        _ text: Secret,
        until end: ContinuousClock.Instant
    ) throws(SealingError) -> (process: pid_t, answer: Int32) {
        let pipes = (input: PrivatePipe(), output: PrivatePipe())
        guard let input = pipes.input, let output = pipes.output else {
            pipes.input?.close()
            pipes.output?.close()
            throw failure("cannot be started, for no pipe can be had")
        }
        // The pipe holds it all: nothing is left to write when the program may be gone.
        let isWritten = text.withUnsafeBytes { write(input.writing, $0.baseAddress, $0.count) == $0.count }
        close(input.writing)
        var program = ProgramStart([path, argument], environment: environment, headOf: .group)
        // What it says to the person is heard, unless this program has closed its own way there.
        let complaints = fcntl(STDERR_FILENO, F_GETFD) < 0 ? nil : STDERR_FILENO
        program.streams = [input.reading, output.writing, complaints]
        let process = isWritten ? program.spawn(until: end) : nil
        close(input.reading)
        close(output.writing)
        if let process { return (process, output.reading) }
        close(output.reading)
        throw failure("cannot be started")
    }

    /// What comes until the end of the output, or a little more than is taken; nil if it does not end in time.
    private func output(of descriptor: Int32, until end: ContinuousClock.Instant) -> Secret? {
        withUnsafeTemporaryAllocation(byteCount: longestOutput + 1, alignment: 1) { buffer in
            defer { wipe(buffer) }
            var count = 0
            while count < buffer.count {
                let left = max(.zero, ContinuousClock.now.duration(to: end)) / .milliseconds(1)
                var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
                let ready = poll(&waiting, 1, Int32(left.rounded(.up)))
                if ready < 0, errno == EINTR { continue }
                guard ready > 0 else { return nil }
                let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
                let found = read(descriptor, rest.baseAddress, rest.count)
                if found < 0, errno == EINTR { continue }
                guard found >= 0 else { return nil }
                if found == 0 { break }
                count += found
            }
            return Secret(copying: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        }
    }

    /// The exit status; nil if the program had to be ended.
    private func wait(for process: pid_t, until end: ContinuousClock.Instant) -> Int32? {
        var status: Int32 = 0
        while true {
            let found = waitpid(process, &status, WNOHANG)
            if found == process { break }
            // Where children leave no status, its output is all there is to judge by.
            if found < 0, errno == ECHILD { return 0 }
            guard ContinuousClock.now < end else {
                kill(-process, SIGKILL)
                while waitpid(process, &status, 0) < 0 && errno == EINTR {}
                return nil
            }
            usleep(1_000)
        }
        let signal = status & 0x7F
        return signal == 0 ? status >> 8 & 0xFF : 128 + signal
    }
}
