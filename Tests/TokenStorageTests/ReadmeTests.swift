import Foundation
import TestSupport
import Testing

struct ReadmeTests {
    @Test func `the library example of the README is the one that compiles here`() throws {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let example = try String(contentsOf: folder.appending(path: "ReadmeExample.swift"), encoding: .utf8)
        let readme = try String(contentsOf: Repository.root.appending(path: "README.md"), encoding: .utf8)
        #expect(readme.contains("```swift\n" + example + "```"))
        #expect(readme.split(separator: "\n", omittingEmptySubsequences: false).count <= 200)
    }
}
