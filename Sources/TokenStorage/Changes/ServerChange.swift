import Sealing

/// What a commit on a server did, as it is told to those who keep tokens in memory.
struct ServerChange: Hashable {
    /// The row of its entry in the record of use.
    let event: Int64

    /// The first of the ids that the account's row may have; 0: any account.
    let account: Int64

    /// Where the nodes that use a store hear of its commits.
    static func channel(of storeID: [UInt8]) -> String { "tokenstore_" + storeID.hexadecimal }

    /// More than this many are not listed; the record of use has them.
    private static let longestList = 20

    static func text(_ changes: [ServerChange]) -> String {
        guard changes.count <= longestList else { return "" }
        return changes.map { "\($0.event) \($0.account)" }.joined(separator: ",")
    }

    /// What a message says; none where it says only that something happened, or makes no sense.
    static func changes(in text: String) -> [ServerChange] {
        text.split(separator: ",").compactMap { part in
            let numbers = part.split(separator: " ").map { Int64($0) }
            guard numbers.count == 2, let event = numbers[0], let account = numbers[1] else { return nil }
            return ServerChange(event: event, account: account)
        }
    }
}
