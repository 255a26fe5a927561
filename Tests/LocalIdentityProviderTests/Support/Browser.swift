import Foundation
import LocalIdentityProvider

/// A headless Chromium behind chromedriver's WebDriver interface.
final class Browser {
    static var isAvailable: Bool { Program("chromium") != nil && Program("chromedriver") != nil }

    private let site: Site
    private let driver: Process
    private let folder: TemporaryFolder
    private let session: String

    init(_ site: Site) async throws {
        self.site = site
        guard let program = Program("chromedriver"), let chromium = Program("chromium") else {
            throw Missing("chromium")
        }
        folder = try TemporaryFolder()
        let log = try folder.file("driver", "")
        driver = Process()
        driver.executableURL = URL(filePath: program.path)
        driver.arguments = ["--port=0"]
        driver.standardOutput = try FileHandle(forWritingTo: log)
        driver.standardError = FileHandle.nullDevice
        try driver.run()
        do {
            session = try await Self.session(site, Self.address(in: log), chromium, folder)
        } catch {
            kill(driver.processIdentifier, SIGKILL)
            throw error
        }
    }

    private static func session(_ site: Site, _ address: String, _ chromium: Program, _ folder: TemporaryFolder)
        async throws
        -> String
    {
        let options: JSON = [
            "binary": .string(chromium.path),
            "args": [
                "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
                .string("--user-data-dir=\(folder.path("profile"))"),
            ],
        ]
        let wanted: JSON = ["capabilities": ["alwaysMatch": ["browserName": "chrome", "goog:chromeOptions": options]]]
        let answer = try await site.send("POST", "\(address)/session", body: wanted.encoded, seconds: 60)
        guard let id = answer["value"]?["sessionId"]?.text else { throw Missing("a browser: \(answer)") }
        return "\(address)/session/\(id)"
    }

    /// The driver prints its port once it listens.
    private static func address(in log: URL) async throws -> String {
        let deadline = ContinuousClock.now + .seconds(20)
        while ContinuousClock.now < deadline {
            let text = try String(contentsOf: log, encoding: .utf8)
            if let match = text.firstMatch(of: /successfully on port ([0-9]+)/) { return "http://127.0.0.1:\(match.1)" }
            await Task.yield()
        }
        throw Missing("chromedriver")
    }

    func close() async throws {
        _ = try await site.send("DELETE", session, seconds: 30)
        stopDriver()
    }

    /// The driver does not listen to SIGTERM.
    private func stopDriver() {
        kill(driver.processIdentifier, SIGKILL)
        folder.remove()
    }

    func open(_ url: String) async throws { _ = try await command("POST", "/url", ["url": .string(url)]) }

    func fill(_ name: String, _ text: String) async throws {
        let element = try await element("[name=\"\(name)\"]")
        _ = try await command("POST", "/element/\(element)/clear", [:])
        _ = try await command("POST", "/element/\(element)/value", ["text": .string(text)])
    }

    func press(_ selector: String) async throws {
        _ = try await command("POST", "/element/\(element(selector))/click", [:])
    }

    /// The address once it is as wanted; a click returns before its navigation ends.
    func address(_ isWanted: (String) -> Bool) async throws -> String {
        let read = { try await self.command("GET", "/url", nil).text ?? "" }
        return try await eventually(read, until: isWanted)
    }

    func waitForHeading(_ heading: String) async throws {
        let read = { try await self.command("GET", "/element/\(self.element("h1"))/text", nil).text ?? "" }
        _ = try await eventually(read) { $0 == heading }
    }

    private func eventually(_ value: () async throws -> String, until isWanted: (String) -> Bool) async throws -> String
    {
        let deadline = ContinuousClock.now + .seconds(20)
        var last = ""
        while ContinuousClock.now < deadline {
            // Between two pages neither can be read.
            do { last = try await value() } catch is Missing { continue }
            if isWanted(last) { return last }
        }
        throw Missing("the wanted page; the last was \(last)")
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await command("POST", "/element", ["using": "css selector", "value": .string(selector)])
        guard let id = found.members?.values.first?.text else { throw Missing("\(selector)") }
        return id
    }

    private func command(_ method: String, _ path: String, _ body: JSON?) async throws -> JSON {
        let answer = try await site.send(method, session + path, body: body?.encoded, seconds: 30)
        guard answer.status == 200 else { throw Missing("\(path): \(answer)") }
        return answer["value"] ?? .null
    }
}
