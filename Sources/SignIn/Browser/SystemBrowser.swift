import Dispatch
import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The browser that the person uses: `$BROWSER`, else the desktop's.
public struct SystemBrowser: UserAgent {
    private let commands: [BrowserCommand]

    /// Reads `$BROWSER`.
    ///
    /// It holds commands, separated by colons and tried in order, with `%s` for the address or with the address behind
    /// them. No shell takes part.
    public init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let named = environment["BROWSER"]?.parts(separatedBy: ":") ?? []
        let usual = Self.desktopCommands(environment)
        // What opens the store is for this program alone.
        let visible = environment.filter { !$0.key.hasPrefix("TOKENSTORE_") }
        commands = (named.isEmpty ? usual : named).map { BrowserCommand($0, environment: visible) }
    }

    /// What opens a page on the desktop.
    private static func desktopCommands(_ environment: [String: String]) -> [String] {
        #if os(macOS)
        return ["open"]
        #else
        // Without a screen these start a browser for terminals, which has none here: it ends at once, or waits unseen.
        let screens = ["DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"]
        guard screens.contains(where: { environment[$0]?.isEmpty == false }) else { return [] }
        return ["xdg-open", "x-www-browser"]
        #endif
    }

    /// Opens `start` rather than `address`: every user of the machine can read the arguments of a program.
    public func open(_ address: String, startingAt start: String?) async throws { try await open(start ?? address) }

    /// Opens a page.
    public func open(_ address: String) async throws {
        // Anything else could be an option of the browser, or a file.
        guard WebAddress(secure: address) != nil else { throw SignInError.noBrowser("the page is at no web address") }
        for command in commands where await command.run(address) { return }
        throw SignInError.noBrowser(
            "no browser could be started",
            "set $BROWSER, or open the printed address"
        )
    }
}

/// One program that shows an address.
private struct BrowserCommand: Sendable {
    private let words: [String]
    private let environment: [String: String]

    /// How long a program may take to say that it cannot; a browser itself runs on.
    private static let patience: Duration = .seconds(2)
    private static let queue = DispatchQueue(label: "tokenstore.browser", attributes: .concurrent)

    /// A browser must not inherit this program's sockets; closing a descriptor that is not open is not an error.
    private static let openable = Int32(clamping: min(sysconf(Int32(_SC_OPEN_MAX)), 1_024))

    #if os(Linux)
    private static let newSession: Int32 = 0x80
    #else
    private static let newSession: Int32 = 0x400
    #endif

    init(_ command: String, environment: [String: String]) {
        words = command.parts(separatedBy: " ")
        self.environment = environment
    }

    /// Starts it, away from the threads of Swift concurrency.
    ///
    /// - Returns: false if it cannot be started, or fails at once.
    func run(_ address: String) async -> Bool {
        await withCheckedContinuation { continuation in
            Self.queue.async { continuation.resume(returning: start(arguments(address))) }
        }
    }

    private func arguments(_ address: String) -> [String] {
        let named = words.map { $0.replacing("%s", with: address) }
        return named == words ? words + [address] : named
    }

    private func start(_ arguments: [String]) -> Bool {
        guard let process = Self.spawn(arguments, environment) else { return false }
        let end = ContinuousClock.now + Self.patience
        var status: Int32 = 0
        while ContinuousClock.now < end {
            if waitpid(process, &status, WNOHANG) == process { return status == 0 }
            usleep(10_000)
        }
        // Unless it is waited for, it stays in the process table.
        Self.queue.async {
            var status: Int32 = 0
            while waitpid(process, &status, 0) < 0, errno == EINTR {}
        }
        return true
    }

    /// Starts a program in a new session, so that Ctrl-C here does not end a browser there, with nothing open
    /// but an empty input and nowhere to write.
    private static func spawn(_ arguments: [String], _ environment: [String: String]) -> pid_t? {
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
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        for descriptor in 3..<openable { posix_spawn_file_actions_addclose(&actions, descriptor) }
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigmask(&attributes, &mask)
        sigfillset(&mask)
        posix_spawnattr_setsigdefault(&attributes, &mask)
        posix_spawnattr_setflags(
            &attributes,
            Int16(Int32(POSIX_SPAWN_SETSIGMASK) | Int32(POSIX_SPAWN_SETSIGDEF) | newSession)
        )
        let words = arguments.map { strdup($0) } + [nil]
        let settings = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + settings { free(text) } }
        var process = pid_t()
        return posix_spawnp(&process, program, &actions, &attributes, words, settings) == 0 ? process : nil
    }
}

/// What shows a person the issuer's pages, outside the app ([RFC 8252
/// §6](https://www.rfc-editor.org/rfc/rfc8252#section-6)).
public protocol UserAgent: Sendable {
    /// Shows the page at `address`, and returns once it is on its way.
    ///
    /// - Throws: ``SignInError/Code/noBrowser`` if it cannot be shown.
    func open(_ address: String) async throws

    /// Shows the page at `address`, to which `start` leads too, if there is one.
    ///
    /// `start` is an address of this machine, for a way to the browser that others can see, such as the arguments of a
    /// program: `address` holds what ties the answer to the request. It works until the sign-in is over.
    ///
    /// - Throws: ``SignInError/Code/noBrowser`` if the page cannot be shown.
    func open(_ address: String, startingAt start: String?) async throws
}

extension UserAgent {
    /// Opens a page; without a person's own command, by way of another address.
    public func open(_ address: String, startingAt start: String?) async throws { try await open(address) }
}
