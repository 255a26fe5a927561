import Foundation
import Testing

/// MSAL for Python reads what we write; it is the program that most caches come from.
struct MSALPythonTests {
    private static let fixtures = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../Fixtures")
        .standardized

    @Test(.enabled(if: hasMSAL, "MSAL for Python is missing: pip install msal"))
    func `MSAL finds the same accounts and access tokens in an export`() throws {
        let scratch = try ScratchDirectory()
        let sample = Self.fixtures.appending(path: "harbor.json").path
        #expect(try scratch.run("import", sample).status == 0)
        #expect(try scratch.run("export", scratch.path("export.json")).status == 0)
        let original = try Self.python(Self.fixtures.appending(path: "read_cache.py").path, sample)
        let exported = try Self.python(Self.fixtures.appending(path: "read_cache.py").path, scratch.path("export.json"))
        #expect(original == exported)
        #expect(original.contains("sample-access-token-mara-b2c_1_signin-0"))
    }

    static let hasMSAL: Bool = {
        // A missing Python is a missing MSAL.
        let found = try? python("-c", "import msal; print('found')")
        return found == "found\n"
    }()

    /// What a script of the fixtures prints; MSAL's client lets these variables win over what it was told to trust.
    static func script(_ name: String, _ arguments: [String], trusting caFile: String) throws -> String {
        let trust = ["REQUESTS_CA_BUNDLE": caFile, "CURL_CA_BUNDLE": caFile]
        return try python([fixtures.appending(path: name).path] + arguments, environment: trust)
    }

    private static func python(_ arguments: String...) throws -> String { try python(arguments) }

    private static func python(_ arguments: [String], environment: [String: String] = [:]) throws -> String {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = ["python3"] + arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let output = Pipe()
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text
    }
}
