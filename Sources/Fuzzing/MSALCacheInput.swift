import OAuth
import TokenStorage

/// Documents to import, which come back out as they went in.
struct MSALCacheInput: FuzzInput {
    private let scratch: ScratchStore
    private let other: ScratchStore

    init() throws {
        scratch = try ScratchStore { _ in }
        other = try ScratchStore { _ in }
    }

    func run(_ bytes: [UInt8]) throws {
        try scratch.restore()
        let store = try scratch.open()
        guard try take(bytes, into: store) else {
            return try hold(try scratch.isStill(scratch.database), "a document that is refused changes nothing")
        }
        try store.forEachAccount(withTokens: true) { _ in }
        let problems = try store.check()
        try hold(problems.isEmpty, "a store that took a document is sound, unlike \(problems)")
        let first = try export(of: store)
        guard try take(bytes, into: store) else { throw BrokenPromise("a document is taken in a second time") }
        try hold(try JSON.mended(export(of: store)) == JSON.mended(first), "a second import changes nothing")

        try other.restore()
        let copy = try other.open()
        guard try take(Array(first.utf8), into: copy) else { throw BrokenPromise("an export can be imported") }
        try hold(try JSON.mended(export(of: copy)) == JSON.mended(first), "an export imported comes out the same")
    }

    /// - Returns: whether the document was not refused.
    private func take(_ bytes: [UInt8], into store: TokenStore) throws -> Bool {
        try unlessRefused(by: TokenStoreError.self) {
            try bytes.withUnsafeBytes { _ = try store.importMSALCache($0, isKnownFormat: true) }
        } != nil
    }

    private func export(of store: TokenStore) throws -> String {
        var document: [UInt8] = []
        try store.exportMSALCache { document.append(contentsOf: $0) }
        return String(decoding: document, as: UTF8.self)
    }
}
