import OAuth
import Sealing

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
public struct SystemBrowser: UserAgent, CustomReflectable {
    /// Without the environment that browsers start with: it may hold secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }

    private let commands: [BrowserCommand]

    /// Reads `$BROWSER`.
    ///
    /// It holds commands, separated by colons and tried in order, with `%s` for the address or with the address behind
    /// them. No shell takes part.
    public init(environment: [String: String] = ProcessInfo.processInfo.environment) {
        let named = environment["BROWSER"]?.parts(separatedBy: ":") ?? []
        let usual = Self.desktopCommands(environment)
        commands = (named.isEmpty ? usual : named).map { BrowserCommand($0, environment: environment) }
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

    init(_ command: String, environment: [String: String]) {
        words = command.parts(separatedBy: " ")
        self.environment = environment
    }

    /// Starts it on a thread that waits for its end.
    ///
    /// - Returns: false if it cannot be started, or fails at once.
    func run(_ address: String) async -> Bool {
        await withCheckedContinuation { continuation in
            let isOnItsWay = DetachedThread.start {
                start(arguments(address)) { continuation.resume(returning: $0) }
            }
            if !isOnItsWay { continuation.resume(returning: false) }
        }
    }

    private func arguments(_ address: String) -> [String] {
        let named = words.map { $0.replacing("%s", with: address) }
        return named == words ? words + [address] : named
    }

    /// Tells once whether the page is shown, and returns when the program has ended.
    private func start(_ arguments: [String], tell: (Bool) -> Void) {
        let end = ContinuousClock.now + Self.patience
        let program = ProgramStart(arguments, environment: environment, headOf: .session)
        guard let process = program.spawn(until: end) else { return tell(false) }
        var status: Int32 = 0
        while ContinuousClock.now < end {
            if waitpid(process, &status, WNOHANG) == process { return tell(status == 0) }
            usleep(10_000)
        }
        tell(true)
        // Unless it is waited for, it stays in the process table.
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
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
    /// Opens `address` itself, and makes no use of `start`.
    public func open(_ address: String, startingAt start: String?) async throws { try await open(address) }
}
