import Foundation
import TestSupport
import Testing

struct PlatformTests {
    @Test(arguments: ["Sources/NativeAuthentication", "Sources/MSAL", "Tests/NativeAuthenticationTests"])
    func `S65: sources and tests are the same on every platform`(folder: String) throws {
        let house = Repository.root
        let place = house.appending(path: folder)
        let files = try #require(FileManager.default.enumerator(at: place, includingPropertiesForKeys: nil))
        let sources = files.compactMap { $0 as? URL }.filter { $0.pathExtension == "swift" }
        #expect(sources.count > 10)
        for source in sources {
            let text = try String(contentsOf: source, encoding: .utf8)
            // Spelled so that this file is not found.
            let conditions = ["#if " + "os(", "#if " + "!os("]
            #expect(!conditions.contains { text.contains($0) }, "\(source.lastPathComponent)")
        }
    }
}
