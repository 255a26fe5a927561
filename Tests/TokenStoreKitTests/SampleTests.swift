import Foundation
import TestSupport
import Testing

/// All Swift in the README and in the articles is compiled by a test target.
struct SampleTests {
    /// A block of code in an article.
    struct Sample: CustomTestStringConvertible {
        let article: String
        let lines: [String]

        var testDescription: String { "\(article): \(lines.first ?? "")" }

        /// Lines of a manifest compile in no target; `.ci/outside` resolves and builds them.
        var isOfManifest: Bool { lines.contains { $0.contains(".product(") } }
    }

    static let samples: [Sample] = {
        let root = Repository.root
        let articles = files(below: root.appending(path: "Sources"), ending: ".md")
        return (articles + [root.appending(path: "README.md")]).flatMap { file -> [Sample] in
            let blocks = text(file).components(separatedBy: "```swift\n").dropFirst()
            return blocks.map { block in
                Sample(article: file.lastPathComponent, lines: Array(lines(of: block).prefix { $0 != "```" }))
            }
        }
    }()

    @Test func `every module with an article has samples here`() {
        #expect(Set(Self.samples.map(\.article)).isSuperset(of: ["README.md", "StoreASession.md", "MSAL.md"]))
    }

    @Test(arguments: samples.filter { !$0.isOfManifest })
    func `the code of an article stands in a source that is compiled`(sample: Sample) {
        #expect(Self.sources.contains { $0.contains(sample.lines.joined(separator: "\n")) })
    }

    /// The sources of the tests, without what the lines are indented by.
    private static let sources = files(below: Repository.root.appending(path: "Tests"), ending: ".swift").map {
        lines(of: text($0)).joined(separator: "\n")
    }

    private static func files(below folder: URL, ending: String) -> [URL] {
        let all = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
        return (all?.allObjects as? [URL] ?? []).filter { $0.path.hasSuffix(ending) }
    }

    private static func text(_ file: URL) -> String { (try? String(contentsOf: file, encoding: .utf8)) ?? "" }

    private static func lines(of code: some StringProtocol) -> [String] {
        code.split(separator: "\n", omittingEmptySubsequences: false).map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }
}
