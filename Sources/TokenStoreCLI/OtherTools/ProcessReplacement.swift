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

/// Another program in the place of this one, as it would be had it been started first.
struct ProcessReplacement {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGQUIT]

    /// The files that this process was started with.
    private let inherited: Set<Int32>

    /// The signals that have no effect on it, as `nohup` and shells arrange.
    private let ignored: [Int32]

    /// Notes how things are; to be made before anything changes them.
    init() {
        inherited = Set((0..<Self.descriptorLimit).filter { fcntl($0, F_GETFD) >= 0 })
        ignored = Self.signals.filter { number in
            var action = sigaction()
            guard sigaction(number, nil, &action) == 0 else { return false }
            #if canImport(Darwin)
            let handler = action.__sigaction_u.__sa_handler
            #else
            let handler = action.__sigaction_handler.sa_handler
            #endif
            return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        }
    }

    private static var descriptorLimit: Int32 { Int32(min(max(sysconf(Int32(_SC_OPEN_MAX)), 256), 4096)) }

    /// Runs `command` with this environment, one variable set and others left out; returns only by an error.
    func run(_ command: [String], setting variable: (name: String, value: String), without names: [String]) throws
        -> Never
    {
        var environment = StoreArguments.environment
        for name in names { environment[name] = nil }
        environment[variable.name] = variable.value
        let words = command.map { strdup($0) } + [nil]
        let settings = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + settings { free(text) } }
        let files = candidates(command[0], path: StoreArguments.environment["PATH"])
        restore()
        var reason = ENOENT
        for file in files {
            execve(file, words, settings)
            // The first one that is there, and cannot be run, says more than that the last one is not.
            if errno != ENOENT, errno != ENOTDIR, reason == ENOENT { reason = errno }
        }
        throw CommandFailure(
            .failure,
            "\(command[0]) cannot be run (\(String(cString: strerror(reason))))",
            "check its name, its permissions and PATH"
        )
    }

    /// The files that may be meant, as a shell looks for them.
    private func candidates(_ program: String, path: String?) -> [String] {
        guard !program.utf8.contains(UInt8(ascii: "/")) else { return [program] }
        let directories = (path ?? "/usr/bin:/bin").split(separator: ":", omittingEmptySubsequences: false)
        return directories.map { $0.isEmpty ? "./\(program)" : "\($0)/\(program)" }
    }

    /// Gives the signals back the effect that they had, and closes what this process opened.
    private func restore() {
        for number in Self.signals { signal(number, ignored.contains(number) ? SIG_IGN : SIG_DFL) }
        for descriptor in 3..<Self.descriptorLimit where !inherited.contains(descriptor) {
            _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        }
    }
}
