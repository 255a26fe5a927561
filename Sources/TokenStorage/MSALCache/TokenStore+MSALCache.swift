import OAuth
import SQLite

extension TokenStore {
    /// Takes in an MSAL unified cache, in one commit.
    ///
    /// Nothing is taken from a document that is no JSON object. Of one that is, an entry that makes no sense is kept
    /// aside, and the others go in; what the store has newer stays. Importing the same document twice changes nothing.
    ///
    /// - Throws: ``TokenStoreError/notAnMSALCache(_:)``. Unless `isKnownFormat`, that includes an object without any
    ///   bucket of a cache.
    public func importMSALCache(
        _ document: UnsafeRawBufferPointer,
        isKnownFormat: Bool = false,
        progress: ((Progress) -> Void)? = nil
    ) throws -> ImportReport {
        let index = try MSALCacheIndex(document, isKnownFormat: isKnownFormat)
        return try write { session in
            var importer = try MSALCacheImporter(session)
            try importer.run(document, index, progress: progress)
            return importer.report
        }
    }

    /// Throws what ``importMSALCache(_:isKnownFormat:progress:)`` would throw for a document that is no cache, so that no
    /// store need be made for one.
    package static func requireMSALCache(_ document: UnsafeRawBufferPointer, isKnownFormat: Bool) throws {
        _ = try MSALCacheIndex(document, isKnownFormat: isKnownFormat)
    }

    /// Writes everything as an MSAL unified cache, with what imports brought and was not understood, in pieces.
    ///
    /// The document holds every token in the clear.
    public func exportMSALCache(
        progress: ((Progress) -> Void)? = nil,
        write: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try read { session in
            try session.connection.read {
                try withoutActuallyEscaping(write) { write in
                    try MSALCacheExporter(session, progress: progress, write: write).run()
                }
            }
        }
    }
}
