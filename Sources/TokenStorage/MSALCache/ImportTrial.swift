import OAuth
import Sealing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Undoes an import that was to show what it would take in.
struct ImportTrial: Error {
    let report: ImportReport
}

extension TokenStore {
    /// What ``importMSALCache(_:isKnownFormat:progress:)`` would take in; nothing is changed, and no store is made.
    package static func previewImport(
        of document: MSALCacheDocument,
        at location: StoreLocation,
        options: StoreOptions = StoreOptions(),
        progress: TokenStore.ProgressHandler? = nil
    ) throws -> ImportReport {
        func preview(_ store: TokenStore) throws -> ImportReport {
            defer { store.close() }
            return try store.importMSALCache(document, isTrial: true, progress: progress)
        }
        var locked = options
        locked.unlocks = false
        // An older store is refused here: opened for writing, it would be brought up to date.
        if try inspect(at: location, options: locked) != nil {
            return try preview(open(at: location, options: options))
        }
        guard let path = location.path else { throw TokenStoreError.noStore(at: location) }
        // The import would make the store.
        try requireCreatable(at: path, options: options)
        return try withScratchStore(options, preview)
    }

    /// Runs `body` on an empty store in a directory of its own, whose key is in memory alone.
    private static func withScratchStore<Result>(
        _ options: StoreOptions,
        _ body: (TokenStore) throws -> Result
    ) throws -> Result {
        let parent = options.environment["TMPDIR"].flatMap { $0.isEmpty ? nil : $0 } ?? "/tmp"
        var template = Array("\(parent)/tokenstore-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw StoreFile.failure("created", "a directory in \(parent)") }
        let directory = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        // What stays of it is sealed under a key that is gone.
        defer { try? FileManager.default.removeItem(atPath: directory) }
        var generator = SystemRandomNumberGenerator()
        var scratch = options
        scratch.keySource = .environment
        let key = Data((0..<32).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
        scratch.environment["TOKENSTORE_KEY"] = key.base64EncodedString()
        scratch.unlocks = true
        return try body(open(at: StorePath(directory + "/tokenstore.db"), options: scratch))
    }
}
