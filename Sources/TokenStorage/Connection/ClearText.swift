import Database
import OAuth
import SQL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

extension String {
    /// The most bytes of a text that rows are found by: a server's index takes three of them in one entry.
    private static let longestKey = 800

    /// Why a server takes no such text as one that rows are found by, and so no store does, as each can be copied to
    /// the other; nil where it does.
    var keyFlaw: String? { keyFlaw(longest: Self.longestKey) }

    fileprivate func keyFlaw(longest: Int) -> String? {
        guard utf8.count <= longest else { return "is longer than \(longest) bytes" }
        var text = self
        let hasNUL = text.withUTF8 { bytes in bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false }
        return hasNUL ? "has a NUL character" : nil
    }
}

/// A text that no store takes; its sentence does not repeat it.
struct UnfitText: Error {
    let problem: String

    init(_ name: String, _ flaw: String) { problem = "the \(name) \(flaw)" }

    var refusal: TokenStoreError {
        let advice = "have the issuer or the program that wrote it correct it"
        return .invalidArgument("\(problem), and no store takes it", .correct(advice))
    }
}

extension SealedTable {
    /// The most bytes that a column in an index may have: the key of an account may hold its id twice.
    static func limit(of column: String) -> Int {
        switch column {
        case "account_key": 1_601
        case "authority", "client_fold", "environment", "local_account_fold", "policy", "realm_fold": 800
        case "requested", "url", "username_fold": 800
        default: .max
        }
    }

    /// Makes sure that a server could take the values of ``clear``.
    func requireFit(_ values: [Value]) throws(UnfitText) {
        for (index, value) in values.enumerated() {
            guard case .text(let text) = value, let flaw = text.keyFlaw(longest: limits[index]) else { continue }
            throw UnfitText(clear[index], flaw)
        }
    }
}

extension StoreConnection {
    /// Makes sure that another store could take all texts: versions before this one took longer ones.
    func requireFit(for target: StoreLocation) throws {
        for table in SealedTable.all {
            try connection.walk(table.everyRow) { row in
                let values = table.clear.map { row.value(table[$0]) }
                do {
                    try table.requireFit(values)
                } catch let unfit as UnfitText {
                    throw TokenStoreError.invalidArgument(
                        "\(target) cannot take row \(row.integer(0)) of \(table.name): \(unfit.problem)",
                        .correct("remove the account or the entry that the row is of")
                    )
                }
            }
        }
    }
}
