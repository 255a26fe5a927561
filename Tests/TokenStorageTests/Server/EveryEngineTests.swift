import Foundation
import TestSupport
import TestTraits
import Testing

/// Whether each suite of the store's promises runs on both engines, or says why it does not.
struct EveryEngineTests {
    /// Suites that need no store.
    private static let withoutStore: Set = ["BehaviourTests", "ReadmeTests", "EveryEngineTests", "StoreLocationTests"]

    @Test(arguments: ["TokenStorageTests", "TokenManagementTests"])
    func `every suite runs on both engines or says why not`(target: String) throws {
        let folder = Repository.root.appending(path: "Tests/" + target)
        let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path).filter { $0.hasSuffix(".swift") }
        var (count, missing) = (0, [String]())
        for name in names {
            let text = try String(contentsOf: folder.appending(path: name), encoding: .utf8)
            for suite in text.matches(of: #/(?m)((?:^@Suite\((?:.|\n)*?\)\n)?)^struct ([A-Za-z]+(?:Tests|Cases)) \{/#) {
                let (traits, suiteName) = (String(suite.output.1), String(suite.output.2))
                guard !Self.withoutStore.contains(suiteName) else { continue }
                count += 1
                let known = [".onBothEngines", ".aboutFiles(\"", ".ifServerIsInstalled", "TestServer.isInstalled"]
                if !known.contains(where: traits.contains) { missing.append(suiteName) }
            }
        }
        #expect(count > 15)
        #expect(missing == [])
    }
}
