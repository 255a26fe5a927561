import CProcess

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Another program in the place of this one, as it would be had it been started first.
struct ProcessReplacement {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT, SIGXFSZ]

    /// The files that this process was started with.
    private let inherited: Set<Int32>

    /// The file that the passphrase is read from, which the other program does not get.
    private let withheld: Int32?

    /// Notes how things are; to be made before anything changes them.
    init(withholding withheld: Int32? = nil) {
        self.withheld = withheld
        inherited = Set((0..<Self.descriptorLimit).filter { fcntl($0, F_GETFD) >= 0 })
        IgnoredSignals.note()
    }

    private static var descriptorLimit: Int32 { Int32(min(max(sysconf(Int32(_SC_OPEN_MAX)), 256), 4096)) }

    /// Runs `command` with this environment, one variable set and others left out; returns only by an error.
    ///
    /// Its words and all other variables are handed on as the bytes that they are, which need not be text.
    func run(_ command: [[UInt8]], setting variable: (name: String, value: String), without names: [String]) throws
        -> Never
    {
        let environment = StartBytes.environment
        let replaced = (names + [variable.name]).map { Array($0.utf8) }
        let kept = environment.filter { setting in
            let name = StartBytes.name(of: setting)
            return !replaced.contains { name.elementsEqual($0) }
        }
        let words = command.map(Self.copy) + [nil]
        let settings = (kept + [Array("\(variable.name)=\(variable.value)".utf8)]).map(Self.copy) + [nil]
        defer { for text in words + settings { free(text) } }
        let files = candidates(command[0], path: StartBytes.value(of: "PATH", in: environment))
        restore()
        var reason = ENOENT
        for file in files {
            execve(Self.terminated(file), words, settings)
            // The first one that is there, and cannot be run, says more than that the last one is not.
            if errno != ENOENT, errno != ENOTDIR, reason == ENOENT { reason = errno }
        }
        throw CommandFailure(
            .failure,
            "\(StartBytes.shown(command[0])) cannot be run (\(String(cString: strerror(reason))))",
            "check its name, its permissions and PATH"
        )
    }

    /// The files that may be meant, as a shell looks for them.
    private func candidates(_ program: [UInt8], path: ArraySlice<UInt8>?) -> [[UInt8]] {
        let slash = UInt8(ascii: "/")
        guard !program.contains(slash) else { return [program] }
        let places = path ?? Array("/usr/bin:/bin".utf8)[...]
        return places.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false).map { directory in
            Array(directory.isEmpty ? Array(".".utf8)[...] : directory) + [slash] + program
        }
    }

    /// Bytes as C has them, up to a NUL.
    private static func terminated(_ bytes: [UInt8]) -> [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }

    /// The same, to be freed.
    private static func copy(_ bytes: [UInt8]) -> UnsafeMutablePointer<CChar>? { strdup(terminated(bytes)) }

    /// Gives the signals back the effect that they had, and the core dumps their limit, and closes what this process
    /// opened.
    private func restore() {
        CProcessRestoreDumpLimit()
        for number in Self.signals { signal(number, IgnoredSignals.atStart.contains(number) ? SIG_IGN : SIG_DFL) }
        for descriptor in 3..<Self.descriptorLimit where !inherited.contains(descriptor) {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
        // The standard streams are the other program's, whatever was read from them.
        if let withheld, withheld > STDERR_FILENO { _ = fcntl(withheld, F_SETFD, FD_CLOEXEC) }
    }
}
