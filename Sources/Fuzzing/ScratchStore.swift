import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A small store in a directory of its own, whose clock stands still and which can be put back to how it began.
final class ScratchStore: Sendable {
    let path: StorePath
    let database: [UInt8]
    private let options: StoreOptions

    init(fill: (TokenStore) throws -> Void) throws {
        let manager = FileManager.default
        // In memory where the system offers that: a disk that synchronizes would be most of the work.
        let memory = "/dev/shm"
        let parent = manager.isWritableFile(atPath: memory) ? memory : manager.temporaryDirectory.path
        path = StorePath("\(parent)/tokenstore-fuzz-\(UUID().uuidString)/tokenstore.db")
        var options = StoreOptions()
        options.environment = [:]
        options.program = "fuzz"
        options.busyTimeout = .milliseconds(200)
        options.now = { Date(timeIntervalSince1970: Double(IDTokenInput.now)) }
        self.options = options
        let filler = path
        try Self.withStore(at: filler, options, fill)
        database = try [UInt8](Data(contentsOf: URL(fileURLWithPath: filler.database)))
    }

    deinit {
        // A leftover of a run harms nobody.
        try? FileManager.default.removeItem(atPath: path.directory)
    }

    private static func withStore(
        at path: StorePath,
        _ options: StoreOptions,
        _ body: (TokenStore) throws -> Void
    ) throws {
        try body(TokenStore.open(at: path, options: options))
    }

    /// Whether the database is `bytes` still, and no log has anything to add.
    func isStill(_ bytes: [UInt8]) throws -> Bool {
        let manager = FileManager.default
        let log = manager.fileExists(atPath: path.log) ? try manager.attributesOfItem(atPath: path.log)[.size] : nil
        guard log as? Int ?? 0 == 0 else { return false }
        // Of an empty file, Foundation would leak what it meant to read it into.
        guard try manager.attributesOfItem(atPath: path.database)[.size] as? Int != 0 else { return bytes.isEmpty }
        return try Data(contentsOf: URL(fileURLWithPath: path.database)).elementsEqual(bytes)
    }

    /// Puts the store back to how it began, or to `bytes`; nobody may have it open.
    func restore(_ bytes: [UInt8]? = nil) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path.directory) {
            guard !["key", "tokenstore.db", "tokenstore.lock"].contains(name) else { continue }
            try FileManager.default.removeItem(atPath: path.directory + "/" + name)
        }
        try Data(bytes ?? database).write(to: URL(fileURLWithPath: path.database))
    }

    func open() throws -> TokenStore { try TokenStore.open(at: path, options: options) }

    func inspect() throws -> TokenStore? { try TokenStore.inspect(at: path, options: options) }

    func repair() throws -> RepairReport { try TokenStore.repair(at: path, options: options) }
}
