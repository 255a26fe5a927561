import Foundation
import HTTPTransport
import OAuth

/// A headless Chromium behind chromedriver's WebDriver interface.
package final class Browser {
    private static let program = "/usr/bin/chromium"
    private static let driverProgram = "/usr/bin/chromedriver"
    private static let limits = HTTPLimits(head: .seconds(60), total: .seconds(60), bodySize: 1 << 20)

    /// Whether Debian's chromium and chromium-driver are installed.
    package static var isInstalled: Bool {
        [program, driverProgram].allSatisfy(FileManager.default.isExecutableFile(atPath:))
    }

    private let transport = AsyncHTTPTransport()
    private var driver = Process()
    private let folder: URL

    /// The address of the driver, and of the session once there is one.
    private var place = ""

    /// Runs `body` with a new browser.
    package static func open(_ body: (Browser) async throws -> Void) async throws {
        let browser = try Browser()
        let outcome: Result<Void, any Error>
        do {
            try await browser.start()
            try await body(browser)
            outcome = .success(())
        } catch {
            outcome = .failure(error)
        }
        await browser.close()
        try outcome.get()
    }

    private init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "browser-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    private func start() async throws {
        let address = try await startDriver()
        let arguments = [
            "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
            "--user-data-dir=\(folder.path)/profile",
        ]
        let options: JSONValue = ["binary": .string(Self.program), "args": .array(arguments.map { .string($0) })]
        let wanted: JSONValue = ["alwaysMatch": ["browserName": "chrome", "goog:chromeOptions": options]]
        place = address
        let session = try await command("POST", "/session", ["capabilities": wanted])
        guard let id = session.object?["sessionId"]?.text else { throw ExpectationFailure("a browser") }
        place = "\(address)/session/\(id)"
    }

    /// The address of a driver that listens.
    ///
    /// It takes a port that is free in IPv4, and ends where another process has that port in IPv6.
    private func startDriver() async throws -> String {
        for attempt in 1...10 {
            let log = folder.appending(path: "driver-\(attempt)")
            try Data().write(to: log)
            driver = Process()
            driver.executableURL = URL(filePath: Self.driverProgram)
            driver.arguments = ["--port=0"]
            driver.standardOutput = try FileHandle(forWritingTo: log)
            driver.standardError = FileHandle.nullDevice
            try driver.run()
            if let address = try await address(in: log) { return address }
        }
        throw ExpectationFailure("chromedriver")
    }

    /// What the driver prints once it listens; nil if it ended.
    private func address(in log: URL) async throws -> String? {
        var address: String?
        try await IssuerSupport.eventually("an answer of chromedriver") {
            let isRunning = driver.isRunning
            let text = try String(contentsOf: log, encoding: .utf8)
            address = text.firstMatch(of: /successfully on port ([0-9]+)/).map { "http://127.0.0.1:\($0.1)" }
            return address != nil || !isRunning
        }
        return address
    }

    private func close() async {
        // A session that never began cannot be ended; the end of the driver below ends the rest.
        _ = try? await command("DELETE", "", nil)
        // The driver does not listen to SIGTERM.
        if driver.isRunning { kill(driver.processIdentifier, SIGKILL) }
        // A folder left among the system's temporary ones does no harm.
        try? FileManager.default.removeItem(at: folder)
    }

    // MARK: What a person does

    package func open(_ url: String) async throws { _ = try await command("POST", "/url", ["url": .string(url)]) }

    package func fill(_ name: String, _ text: String) async throws {
        let element = try await element("[name=\"\(name)\"]")
        _ = try await command("POST", "/element/\(element)/clear", [:])
        _ = try await command("POST", "/element/\(element)/value", ["text": .string(text)])
    }

    package func press(_ selector: String) async throws {
        _ = try await command("POST", "/element/\(element(selector))/click", [:])
    }

    /// The address once it is as wanted; a click returns before its navigation ends.
    package func address(_ isWanted: (String) -> Bool) async throws -> String {
        let read = { try await self.command("GET", "/url", nil).text ?? "" }
        return try await eventually(read, until: isWanted)
    }

    package func waitForHeading(_ heading: String) async throws {
        let read = { try await self.command("GET", "/element/\(self.element("h1"))/text", nil).text ?? "" }
        _ = try await eventually(read) { $0 == heading }
    }

    private func eventually(_ value: () async throws -> String, until isWanted: (String) -> Bool) async throws -> String
    {
        let deadline = ContinuousClock.now + .seconds(60)
        var last = ""
        while ContinuousClock.now < deadline {
            // Between two pages neither can be read.
            do { last = try await value() } catch is ExpectationFailure { continue }
            if isWanted(last) { return last }
        }
        throw ExpectationFailure("the wanted page; the last was \(last)")
    }

    private func element(_ selector: String) async throws -> String {
        let found = try await command("POST", "/element", ["using": "css selector", "value": .string(selector)])
        guard let id = found.object?.members.first?.value.text else { throw ExpectationFailure(selector) }
        return id
    }

    private func command(_ method: String, _ path: String, _ body: JSONValue?) async throws -> JSONValue {
        let request = HTTPRequest(
            method,
            place + path,
            headers: ["content-type": "application/json"],
            body: body.map { Secret($0.serialized) }
        )
        let response = try await transport.send(request, limits: Self.limits)
        let text = response.body.reveal()
        guard response.status == 200 else { throw ExpectationFailure("success at \(path): \(text)") }
        return try JSONValue(parsing: text).object?["value"] ?? .null
    }
}
