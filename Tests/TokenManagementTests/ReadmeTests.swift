import Foundation
import TestSupport
import Testing

struct ReadmeTests {
    @Test func `the example of the README that calls a web API is the one that compiles here`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let example = try String(contentsOf: folder.appending(path: "ReadmeExample.swift"), encoding: .utf8)
        let readme = try String(contentsOf: Repository.root.appending(path: "README.md"), encoding: .utf8)
        #expect(readme.contains("```swift\n" + example + "```"))
    }
}
