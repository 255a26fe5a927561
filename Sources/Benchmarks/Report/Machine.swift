import CBaseline
import PostgreSQL
import TestSupport
import TokenStorage

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

/// Where a run was made.
struct Machine: Codable, Hashable {
    let processor: String
    let cores: Int
    let memoryBytes: UInt64
    let system: String

    /// The machine that this program runs on.
    static var current: Machine {
        let process = ProcessInfo.processInfo
        var names = utsname()
        let isKnown = uname(&names) == 0
        let kernel = isKnown ? [text(names.sysname), text(names.release)] : []
        return Machine(
            processor: processor ?? (isKnown ? text(names.machine) : "unknown"),
            cores: process.activeProcessorCount,
            memoryBytes: process.physicalMemory,
            system: ([kernel.joined(separator: " ")] + [distribution].compactMap(\.self)).joined(separator: ", ")
        )
    }

    /// What Linux calls the first processor.
    private static var processor: String? {
        value(of: "model name", in: "/proc/cpuinfo", separator: ":")
    }

    /// What a Linux distribution calls itself.
    private static var distribution: String? {
        value(of: "PRETTY_NAME", in: "/etc/os-release", separator: "=").map { $0.filter { $0 != "\"" } }
    }

    private static func value(of name: String, in file: String, separator: Character) -> String? {
        // Another system than Linux has no such file.
        guard let bytes = try? Data(contentsOf: URL(fileURLWithPath: file)) else { return nil }
        let lines = String(decoding: bytes, as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix(name) }) else { return nil }
        return line.split(separator: separator, maxSplits: 1).dropFirst().first
            .map { String($0.drop(while: \.isWhitespace)) }
    }

    /// A text in a C array.
    private static func text<Characters>(_ characters: Characters) -> String {
        withUnsafeBytes(of: characters) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    }
}

enum Versions {
    /// Of what is measured here, as far as it is installed.
    static var current: [String: String] {
        var versions = ["tokenstore": TokenStore.version, "Swift": swift]
        versions["SQLite"] = String(cString: baseline_sqlite_version())
        if TestServer.isInstalled {
            versions["PostgreSQL"] = TestServer.version
            versions["libpq"] = (try? Library.load()).map { Library.text(of: $0.version) }
        }
        return versions
    }

    /// A debug build's figures say little.
    static var isDebugBuild: Bool {
        var isDebug = false
        assert(
            {
                isDebug = true
                return true
            }()
        )
        return isDebug
    }

    private static var swift: String {
        #if compiler(>=6.4)
        return "6.4 or newer"
        #elseif compiler(>=6.3)
        return "6.3"
        #else
        return "6.2"
        #endif
    }
}
