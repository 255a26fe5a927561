import Foundation
import TestSupport
import Testing

/// The libraries' words are for any program: what to do at the command line is the command line's to say.
struct LibrarySentenceTests {
    private static let libraries = [
        "HTTPTransport", "MSAL", "NativeAuthentication", "OAuth", "OpenIDConnect", "SQLite", "Sealing", "SignIn",
        "TokenManagement", "TokenStorage", "TokenStoreKit",
    ]

    /// The lines of a library that are not comments.
    private func lines(of library: String) throws -> [String] {
        let root = Repository.root.appending(path: "Sources/\(library)")
        let names = try FileManager.default.subpathsOfDirectory(atPath: root.path()).filter { $0.hasSuffix(".swift") }
        return try names.flatMap { name in
            try String(contentsOf: root.appending(path: name), encoding: .utf8).split(separator: "\n")
                .map { $0.drop { $0 == " " } }
                .filter { !$0.hasPrefix("//") }
                .map { "\(library)/\(name): \($0)" }
        }
    }

    @Test(arguments: libraries)
    func `no sentence names a command or an option of the command line`(library: String) throws {
        for line in try lines(of: library) {
            #expect(!line.contains(/'tokenstore |[" =]--[a-z]/), "\(line)")
        }
    }

    /// Advice is a remedy of its own: nothing has to look for it behind a semicolon.
    ///
    /// MSAL's errors have no place for a remedy.
    @Test(arguments: libraries.filter { $0 != "MSAL" })
    func `no sentence has its advice behind a semicolon`(library: String) throws {
        let isHeader = /content-type|content-security-policy/
        for line in try lines(of: library) where !line.contains(isHeader) {
            #expect(!line.contains(/".*; [a-z]|^[^"]*[a-z)]; [a-z]/), "\(line)")
        }
    }
}
