import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// MSAL for Python reads what we write; it is the program that most caches come from.
@Suite(.onWaitingThreads)
struct MSALPythonTests {
    private static let fixtures = Repository.root.appending(path: "Tests/Fixtures")

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

    @Test(.enabled(if: hasMSAL, "MSAL for Python is missing: pip install msal"))
    func `MSAL finds the token that a refresh brought for its own user flow`() throws {
        let scratch = try ScratchDirectory()
        let cache = try CachedUser.cache([.mara]).replacing(
            "\"realm\":\"\(CachedUser.mara.tenant)\"",
            with: "\"realm\":\"tfp\""
        )
        #expect(try scratch.run("import", input: cache).status == 0)
        let store = try TokenStore.open(at: StorePath(scratch.store))
        let account = try #require(try store.accounts().first)
        let used = try #require(try store.refreshTokens(of: account.id, client: CachedUser.mara.client).first)
        let authority = "https://\(CachedUser.mara.environment)/tfp/harbor.onmicrosoft.com/B2C_1_SignIn"
        let request = TokenRequest(
            clientID: CachedUser.mara.client,
            authority: try Authority(parsing: authority),
            scope: "tasks.read tasks.write.0",
            grant: .refreshToken
        )
        var response = TokenResponse(accessToken: Secret("brought"), expiresIn: .seconds(3_600))
        response.idToken = Secret(try CachedUser.mara.idToken)
        try store.save(response, for: request, refreshing: used)
        #expect(try scratch.run("export", scratch.path("export.json")).status == 0)
        let script = Self.fixtures.appending(path: "read_cache.py").path
        let found = try Self.python(script, scratch.path("export.json"), authority)
        #expect(found.contains("\"brought\""), "\(found)")
        #expect(found.contains("\"requests\": 0"), "\(found)")
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
