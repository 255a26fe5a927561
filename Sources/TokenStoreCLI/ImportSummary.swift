import TokenStorage

/// What an import took over.
struct ImportSummary {
    let report: ImportReport

    /// The columns that are left for a key; those of MSAL name the account, the client and the scope.
    private static let longestKey = 200

    func write(_ arguments: StoreArguments, on console: Console) throws {
        if arguments.json { return try document(on: console) }
        for rejection in report.rejected {
            let key = rejection.key.map { ", \($0.printable.truncated(to: Self.longestKey))" } ?? ""
            console.log(.error, "\(rejection.bucket)\(key): \(rejection.reason)")
        }
        if console.isQuiet { return }
        let counts = [
            report.accounts.counting("account"), report.accessTokens.counting("access token"),
            report.refreshTokens.counting("refresh token"), report.idTokens.counting("ID token"),
            "\(report.appMetadata) app metadata", "\(report.other) other",
        ]
        try console.line("imported \(counts.joined(separator: ", "))")
        try console.line("unchanged \(report.unchanged), rejected \(report.rejected.count)")
        try console.output.flush()
    }

    private func document(on console: Console) throws {
        try console.document {
            $0.object("imported") {
                $0.member("accounts", report.accounts)
                $0.member("accessTokens", report.accessTokens)
                $0.member("refreshTokens", report.refreshTokens)
                $0.member("idTokens", report.idTokens)
                $0.member("appMetadata", report.appMetadata)
                $0.member("other", report.other)
            }
            $0.member("unchanged", report.unchanged)
            $0.array("rejected", report.rejected) { rejection, json in
                json.object {
                    $0.member("bucket", rejection.bucket)
                    $0.member("key", rejection.key)
                    $0.member("reason", rejection.reason)
                }
            }
        }
    }
}
