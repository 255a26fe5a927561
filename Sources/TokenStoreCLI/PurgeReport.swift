import TokenStorage

/// What a purge deleted, or would delete.
struct PurgeReport {
    let counts: PurgeCounts
    let isDryRun: Bool

    var isEmpty: Bool { counts == PurgeCounts() }

    /// What a store holds that is too damaged to be read cannot be counted.
    var question: String { "Delete \(isEmpty ? "everything in the store" : text)" }

    func write(_ arguments: StoreArguments, on console: Console) throws {
        if arguments.json {
            try console.document {
                $0.member("dryRun", isDryRun)
                $0.object("deleted") {
                    $0.member("accounts", counts.accounts)
                    $0.member("accessTokens", counts.accessTokens)
                    $0.member("refreshTokens", counts.refreshTokens)
                    $0.member("idTokens", counts.idTokens)
                }
            }
        } else if !console.isQuiet || isDryRun {
            try console.line((isDryRun ? "would delete " : "deleted ") + text)
            try console.output.flush()
        }
    }

    private var text: String {
        [
            counts.accounts.counting("account"), counts.accessTokens.counting("access token"),
            counts.refreshTokens.counting("refresh token"), counts.idTokens.counting("ID token"),
        ].joined(separator: ", ")
    }
}
