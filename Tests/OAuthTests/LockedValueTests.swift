import Foundation
import TestSupport
import Testing

struct LockedValueTests {
    /// A debug build compiles without the import; a release build, where the type is a `Mutex`, does not.
    @Test(arguments: ["Sources", "Tests"])
    func `each file that uses a LockedValue imports Synchronization`(folder: String) throws {
        let place = Repository.root.appending(path: folder)
        let files = try #require(FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil))
        var uses = 0
        for file in files.compactMap({ $0 as? URL }) where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            // Spelled so that this file is not found.
            guard text.contains("Locked" + "Value(") || text.contains("Locked" + "Value<") else { continue }
            uses += 1
            #expect(text.contains("import Synchronization\n"), "\(file.path)")
        }
        #expect(uses > 10)
    }
}
