import Foundation
import TestSupport

/// The compiler, and the modules of the build that the tests are a part of.
struct Compiler {
    /// It refused more than the app.
    struct Failure: Error {
        let message: String
    }

    static let isInstalled = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        .contains { FileManager.default.isExecutableFile(atPath: "\($0)/swiftc") }

    private static let products: URL = {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
        return (bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL).resolvingSymlinksInPath()
    }()

    /// Which of `lines`, each a declaration of an app's, are refused with a message that fits.
    func refusals(
        of lines: [String],
        importing module: String = "NativeAuthentication",
        because fits: (Substring) -> Bool
    ) throws -> [Int] {
        let folder = try TemporaryDirectory()
        let source = folder.path + "/App.swift"
        try Data((["import \(module)"] + lines).joined(separator: "\n").utf8)
            .write(to: URL(filePath: source))
        let maps = try Self.moduleMaps().flatMap { ["-Xcc", "-fmodule-map-file=" + $0] }
        let arguments =
            [
                "-typecheck", source, "-swift-version", "6", "-diagnostic-style=llvm",
                "-I", Self.products.appending(path: "Modules").path,
                "-module-cache-path", Self.products.appending(path: "ModuleCache").path,
            ] + maps
        // That some lines are refused is what is asked for, so the exit status says nothing.
        let said = try Shell.run("/bin/sh", ["-c", "swiftc \"$@\" 2>&1 || true", "sh"] + arguments)
        let start = source + ":"
        let refusals = try said.split(separator: "\n").filter { $0.contains("error: ") }.compactMap { line -> Int? in
            let number = line.dropFirst(start.count).split(separator: ":").first.flatMap { Int($0) }
            // The first line imports, and what is said of no line is said of the modules.
            guard line.hasPrefix(start), let number, number > 1 else { throw Failure(message: String(line)) }
            return fits(line) ? number - 2 : nil
        }
        return Set(refusals).sorted()
    }

    /// The C modules of the package and of the packages it depends on.
    private static func moduleMaps() throws -> [String] {
        let house = Repository.root
        let checkouts = products.appending(path: "../../checkouts").standardized
        let built = try children(of: products).filter { $0.pathExtension == "build" }
        let fetched = try children(of: checkouts).flatMap { package in
            let sources = package.appending(path: "Sources")
            return try children(of: sources).map { $0.appending(path: "include") }
        }
        let own = ["CSQLite", "CZlib"].map { house.appending(path: "Sources/\($0)") }
        return (built + fetched + own)
            .map { $0.appending(path: "module.modulemap").path }
            .filter(FileManager.default.fileExists(atPath:))
    }

    private static func children(of folder: URL) throws -> [URL] {
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
    }
}
