import TokenStorage

/// What a purge deleted, or would delete.
struct PurgeReport {
    let counts: PurgeCounts
    let isDryRun: Bool
    let database: String

    var isEmpty: Bool { counts == PurgeCounts() }

    /// What a store holds that is too damaged to be read cannot be counted; its file is named instead.
    var question: String {
        let files = counts.removedFiles.joined(separator: ", ")
        guard isDatabaseReadable else { return "Overwrite and remove \(files)" }
        let rows = hasRows ? text : "everything in the store"
        return "Delete \(rows)" + (files.isEmpty ? "" : ", and overwrite and remove \(files)")
    }

    /// Whether the store itself is not among the files that go.
    private var isDatabaseReadable: Bool { !counts.removedFiles.contains(database) }

    private var hasRows: Bool {
        counts.accounts + counts.accessTokens + counts.refreshTokens + counts.idTokens > 0
    }

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
                $0.array("accountNames", counts.accountNames)
                $0.array("removedFiles", counts.removedFiles)
                $0.array("keptFiles", counts.keptFiles)
            }
        } else if !console.isQuiet || isDryRun {
            try console.line(((isDryRun ? "would delete " : "deleted ") + text).printable)
            for file in counts.removedFiles {
                try console.line(((isDryRun ? "would remove " : "removed ") + file).printable)
            }
            try console.output.flush()
        }
        for file in counts.keptFiles {
            console.note("\(file) stays, for it does not show that it is a copy of a store; remove it yourself")
        }
    }

    private var text: String {
        [
            counts.accounts.counting("account"), counts.accessTokens.counting("access token"),
            counts.refreshTokens.counting("refresh token"), counts.idTokens.counting("ID token"),
        ].joined(separator: ", ") + names
    }

    /// The accounts by name, as far as they are few.
    private var names: String {
        guard !counts.accountNames.isEmpty else { return "" }
        let more = counts.accounts - counts.accountNames.count
        let names = counts.accountNames.joined(separator: ", ")
        return ": " + names + (more > 0 ? " and \(more.grouped) more" : "")
    }
}
