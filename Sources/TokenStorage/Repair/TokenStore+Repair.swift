extension TokenStore {
    /// Copies every row that can be read into a new file, which takes the place of the damaged one; that is kept
    /// beside it.
    ///
    /// Sealed values that do not open are left out: they could never be read again.
    ///
    /// - Throws: ``TokenStoreError/damaged(_:)`` if not even the data keys can be read, without which nothing opens.
    public static func repair(
        at path: StorePath,
        options: StoreOptions = StoreOptions(),
        progress: ((Progress) -> Void)? = nil
    ) throws -> RepairReport {
        try TokenStoreError.translating(at: path) {
            try StoreRepair(path: path, options: options, progress: progress).run()
        }
    }
}
