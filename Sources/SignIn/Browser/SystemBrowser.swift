import HTTPTransport
import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
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

    public func open(_ address: String) async throws {
        // Anything else could be an option of the browser, or a file.
        guard HTTPAddress(address) != nil else { throw SignInError.noBrowser("the page is at no web address") }
        for command in commands where await command.run(address) { return }
        throw SignInError.noBrowser("no browser could be started; set $BROWSER, or open the printed address")
    }
}
