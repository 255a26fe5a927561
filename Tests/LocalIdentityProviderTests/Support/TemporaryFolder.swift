import Foundation

/// A folder of one test's own.
struct TemporaryFolder {
    let url: URL

    init() throws {
        url = FileManager.default.temporaryDirectory.appending(path: "local-idp-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
    }

    func path(_ name: String) -> String { url.appending(path: name).path }

    func file(_ name: String, _ text: String) throws -> URL {
        let file = url.appending(path: name)
        try text.write(to: file, atomically: false, encoding: .utf8)
        return file
    }

    func remove() {
        // A folder left in the system's temporary folder does no harm.
        try? FileManager.default.removeItem(at: url)
    }
}
