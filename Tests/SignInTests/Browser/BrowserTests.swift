import Foundation
import IssuerSupport
import OAuth
import SignIn
import TestSupport
import Testing

struct BrowserTests {
    /// A script that notes its arguments and the environment it sees.
    private static func script(_ directory: TemporaryDirectory, exits status: Int = 0) throws -> String {
        let path = directory.file("browser")
        let text = """
            #!/bin/sh
            printf '%s\\n' "$@" > "\(directory.path)/arguments"
            env > "\(directory.path)/environment"
            exit \(status)
            """
        try Data(text.utf8).write(to: URL(filePath: path))
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: path)
        return path
    }

    private static func text(_ directory: TemporaryDirectory, _ name: String) throws -> String {
        try String(contentsOf: URL(filePath: directory.file(name)), encoding: .utf8)
    }

    @Test func `S08: $BROWSER gets the address as one argument, without a shell`() async throws {
        let directory = try TemporaryDirectory()
        let browser = try Self.script(directory)
        let address = "https://issuer.example/authorize?a=$(touch%20x);`id`&b='%20\"c\""
        let environment = ["BROWSER": browser, "PATH": "/usr/bin:/bin", "TOKENSTORE_KEY": "secret", "LANG": "C"]
        try await SystemBrowser(environment: environment).open(address)
        #expect(try Self.text(directory, "arguments") == address + "\n")
        let seen = try Self.text(directory, "environment")
        #expect(seen.contains("LANG=C"))
        #expect(!seen.contains("TOKENSTORE_KEY"))
    }

    @Test func `S08: %s is replaced by the address, and the next command is tried after a failure`() async throws {
        let directory = try TemporaryDirectory()
        let other = try TemporaryDirectory()
        let failing = try Self.script(other, exits: 3)
        let browser = try Self.script(directory)
        let commands = "/nonexistent:\(failing):\(browser) --new-window %s --end"
        let environment = ["BROWSER": commands, "PATH": "/usr/bin:/bin"]
        try await SystemBrowser(environment: environment).open("https://issuer.example/")
        #expect(try Self.text(directory, "arguments") == "--new-window\nhttps://issuer.example/\n--end\n")
        #expect(try Self.text(other, "arguments") == "https://issuer.example/\n")
    }

    @Test func `the arguments of the browser do not hold the page's address`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let environment = ["BROWSER": try Self.script(directory), "PATH": "/usr/bin:/bin"]
        let browser = SystemBrowser(environment: environment)
        try await browser.open("https://issuer.example/?state=s", startingAt: "http://127.0.0.1:1/start")
        #expect(try Self.text(directory, "arguments") == "http://127.0.0.1:1/start\n")
    }

    @Test func `without a display no browser is started`() async throws {
        let directory = try TemporaryDirectory()
        for name in ["xdg-open", "x-www-browser", "www-browser"] {
            let script = try Self.script(directory)
            try FileManager.default.moveItem(atPath: script, toPath: directory.file(name))
        }
        // The program is looked up where this process looks, so a screen is all that is missing.
        let error = try await signInError {
            try await SystemBrowser(environment: ["PATH": directory.path]).open("https://issuer.example/")
        }
        guard error?.code == .noBrowser else { throw ExpectationFailure("noBrowser") }
    }

    @Test(arguments: ["file:///etc/passwd", "--help", "javascript:alert(1)", "http://example.org/"])
    func `only web addresses are opened`(address: String) async throws {
        let directory = try TemporaryDirectory()
        let environment = ["BROWSER": try Self.script(directory), "PATH": "/usr/bin:/bin"]
        await #expect(throws: SignInError.self) { try await SystemBrowser(environment: environment).open(address) }
        #expect(!FileManager.default.fileExists(atPath: directory.file("arguments")))
    }

    @Test func `a missing browser is an error`() async throws {
        let environment = ["BROWSER": "/nonexistent", "PATH": "/usr/bin:/bin"]
        let error = try await signInError {
            try await SystemBrowser(environment: environment).open("https://issuer.example/")
        }
        #expect(error?.description.contains("$BROWSER") == true)
    }
}
