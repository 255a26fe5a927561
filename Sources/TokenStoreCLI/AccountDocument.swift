import TokenStorage

/// Accounts as one JSON document, written as they come.
struct AccountDocument: AccountListing {
    private let output: BufferedOutput
    private let withTokens: Bool
    private var json = JSONOutput()

    init(_ console: Console, withTokens: Bool) {
        output = console.output
        self.withTokens = withTokens
        json.openDocument("accounts")
    }

    mutating func add(_ summary: AccountSummary) throws {
        json.startElement()
        json.object { $0.members(of: summary, withTokens: withTokens) }
        try pass()
    }

    mutating func finish(of total: Int) throws {
        json.closeDocument(total: total)
        try pass()
        try output.flush()
    }

    private mutating func pass() throws {
        try json.bytes.withUnsafeBytes { try output.write($0) }
        json.removeAll()
    }
}
