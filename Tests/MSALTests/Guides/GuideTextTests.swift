import Foundation
import TestSupport
import Testing

/// The sources of the target `MSALDocuments` are the guides' code: nothing in it is altered so that it compiles.
struct GuideTextTests {
    @Test(arguments: ["b2c", "web-apis", "sign-in", "sign-in-older", "sign-up"])
    func `each block of a guide's code is in the sources, letter by letter`(guide: String) throws {
        let tests = Repository.root.appending(path: "Tests")
        let text = try String(
            contentsOf: tests.appending(path: "Fixtures/msal-documents/\(guide).txt"),
            encoding: .utf8
        )
        let folder = tests.appending(path: "MSALDocuments")
        let sources = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .map { try String(contentsOf: $0, encoding: .utf8).linesOfGuide }
        let blocks = text.split(separator: "\n----\n").map { String($0).linesOfGuide }
        #expect(blocks.count > 4)
        for block in blocks {
            #expect(sources.contains { $0.contains(block) }, "\(block)")
        }
    }
}

extension String {
    /// The text without white space, the lines marked as the app's own, and the dots that stand for those.
    fileprivate var linesOfGuide: String {
        split(separator: "\n")
            .filter { !$0.hasSuffix("// own") && $0.trimmingCharacters(in: .whitespaces) != "..." }
            .joined()
            .filter { !$0.isWhitespace }
    }
}
