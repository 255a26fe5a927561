import Foundation
import TestSupport
import Testing
import TokenStoreKit

/// The Swift in the README and in the guides, which is compiled here with one import.
struct FrontDoorTests {
    private let folder = URL(filePath: #filePath).deletingLastPathComponent()

    private func text(_ path: String) throws -> String {
        try String(contentsOf: Repository.root.appending(path: path), encoding: .utf8)
    }

    private func code(_ file: String) throws -> String {
        try String(contentsOf: folder.appending(path: file), encoding: .utf8)
    }

    @Test func `the library example of the README is the one that compiles here`() throws {
        #expect(try text("README.md").contains("```swift\n" + code("ReadmeExample.swift") + "```"))
    }

    @Test(arguments: ["AnApp", "AServer", "ACommandLineTool"])
    func `the code of a guide is the one that compiles here`(guide: String) throws {
        let article = try text("Sources/TokenStoreKit/TokenStoreKit.docc/\(guide).md")
        #expect(article.ranges(of: "```swift").count == 1)
        #expect(article.contains("```swift\n" + (try code("Guides/\(guide).swift")) + "```"))
    }

    @Test func `no example puts a token into the arguments of a program`() throws {
        let sources = Repository.root.appending(path: "Sources")
        let files = try FileManager.default.subpathsOfDirectory(atPath: sources.path(percentEncoded: false))
            .filter { $0.hasSuffix(".swift") || $0.hasSuffix(".md") }
        #expect(files.contains("TokenStoreCLI/Commands/TokenCommand.swift"))
        for file in files.map({ "Sources/" + $0 }) + ["README.md"] {
            let others = try text(file).replacing("eval \"$(tokenstore token", with: "")
            #expect(!others.contains("$(tokenstore token"), "\(file)")
        }
    }

    @Test func `a service of the recipes that is restarted waits before, and is not given up`() throws {
        let recipes = try text("Sources/TokenStoreKit/TokenStoreKit.docc/ShellRecipes.md")
        let units = recipes.components(separatedBy: "```ini\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
        let restarted = units.filter { $0.contains("\nRestart=") }
        #expect(!restarted.isEmpty)
        for unit in restarted {
            #expect(unit.contains("\nRestartSec="))
            #expect(unit.contains("\nStartLimitIntervalSec=0\n"))
        }
    }

    @Test(arguments: ["https://login.example.com", "https://login.microsoftonline.com/common"])
    func `an application without a sign-in has no sessions, and creates its store`(issuer: String) async throws {
        let directory = try TemporaryDirectory()
        let path = StorePath(directory.file("tokenstore.db"))
        let application = try PublicClientApplication(clientID: "my-app", issuer: issuer, storeAt: path)
        let user = CurrentUser(application)
        try await user.restore()
        #expect(await user.session == nil)
        #expect(try await user.tasks() == nil)
        #expect(try await application.sessions().isEmpty)
    }
}
