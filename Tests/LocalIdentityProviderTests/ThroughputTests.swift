import Foundation
import LocalIdentityProvider
import Testing

/// Token requests per second, measured with wrk.
struct ThroughputTests {
    /// `LOCAL_IDP_RELEASE` names a release build; a debug build only has to bear the load.
    private static let release = ProcessInfo.processInfo.environment["LOCAL_IDP_RELEASE"]
    private static let floor = release == nil ? 50.0 : 1000.0
    private static let connections = 16

    /// Each thread has one connection and one family, and spends the refresh token that the last answer brought.
    private static let script = """
        local tokens = {}
        for line in io.lines(os.getenv("TOKENS")) do tokens[#tokens + 1] = line end
        local count = 0
        function setup(thread) count = count + 1; thread:set("token", tokens[count]); thread:set("bad", 0) end
        function request()
          local form = "client_id=pwd-app&grant_type=refresh_token&refresh_token=" .. token
          return wrk.format("POST", nil, {["content-type"] = "application/x-www-form-urlencoded"}, form)
        end
        function response(status, headers, body)
          local next = body:match('"refresh_token":"([^"]+)"')
          if next then token = next else bad = bad + 1 end
        end
        function done(summary) print("answers per second: " .. summary.requests / (summary.duration / 1e6)) end
        """

    @Test(.enabled(if: Program("wrk") != nil, "needs wrk"))
    func `signed refreshes with rotation reach 50 a second`() async throws {
        let folder = try TemporaryFolder()
        defer { folder.remove() }
        let output = try folder.file("output", "")
        let process = Process()
        process.executableURL = URL(filePath: Self.release ?? StartTests.binary)
        process.arguments = ["--port", "0", "--refresh-grace", "0"]
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        defer { kill(process.processIdentifier, SIGKILL) }
        let announced = try JSON(parsing: await StartTests.line(of: output).utf8)
        let address = announced["addresses"]?.elements?.first?.text ?? ""
        let tokens = try await Self.signIns(address)
        let environment = try ["TOKENS": folder.file("tokens", tokens.joined(separator: "\n")).path]
        let wrk = try #require(Program("wrk"))
        let load = ["-t\(Self.connections)", "-c\(Self.connections)", "-d5s", "-s"]
        let script = try folder.file("refresh.lua", Self.script).path
        let url = address + "/fabrikvine/oauth2/v2.0/token"
        let result = try await wrk.run(load + [script, url], environment: environment)
        print(result.output)
        let rate = result.output.firstMatch(of: /answers per second: ([0-9.]+)/).flatMap { Double($0.1) } ?? 0
        #expect(rate >= Self.floor)
        #expect(!result.output.contains("Non-2xx"))
    }

    private static func signIns(_ address: String) async throws -> [String] {
        var tokens: [String] = []
        let endpoints = address + "/fabrikvine/oauth2/v2.0/"
        for _ in 1...connections {
            var form = ["client_id": "pwd-app", "challenge_type": Site.everyType, "username": Site.ana]
            for path in ["initiate", "challenge"] {
                form["continuation_token"] = try await Site.post(endpoints + path, form).token
            }
            form.merge(["grant_type": "password", "password": Site.anasPassword]) { $1 }
            tokens.append(try await Site.post(endpoints + "token", form).text("refresh_token"))
        }
        return tokens
    }
}
