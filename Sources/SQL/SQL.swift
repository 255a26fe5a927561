/// A statement that was put together once and is kept in a `static let`, so that it is told from others by its address.
package final class SQL: Sendable {
    /// The text for an engine; most statements have one text for all.
    package let sqlite: String
    package let postgreSQL: String

    package init(_ text: String) { (sqlite, postgreSQL) = (text, text) }

    /// A statement that no one text says to both engines.
    package init(_ text: (Dialect) -> String) { (sqlite, postgreSQL) = (text(.sqlite), text(.postgreSQL)) }
}

/// How an engine says what the other says differently.
package enum Dialect: Sendable {
    case sqlite
    case postgreSQL

    /// Whether `column` has the value of `place`, or both have none.
    ///
    /// Owners are never absent on a server, where rows are spread by them: 0 stands for none there.
    package func owner(_ column: String, is place: String) -> String {
        self == .sqlite ? "\(column) IS \(place)" : "\(column) = \(place)"
    }

    /// Whether two values are the same, or both absent; no index is used for it.
    package func same(_ first: String, _ second: String) -> String {
        self == .sqlite ? "\(first) IS \(second)" : "\(first) IS NOT DISTINCT FROM \(second)"
    }

    /// A column of texts or blobs, as no index of a server has it: rows are found by the other columns of a condition.
    ///
    /// A server plans a statement once. In a new store all tables are empty then, and any index seems as good as any
    /// other, also one in which the rows of many accounts are alike. A file takes the one with the most columns.
    package func unindexed(_ column: String) -> String { self == .sqlite ? column : "\(column) || ''" }

    /// Whether a text has another in it.
    package func text(_ column: String, contains part: String) -> String {
        self == .sqlite ? "instr(\(column), \(part))" : "strpos(\(column), \(part)) > 0"
    }

    /// The greater of two numbers.
    package func greater(_ first: String, _ second: String) -> String {
        self == .sqlite ? "max(\(first), \(second))" : "greatest(\(first), \(second))"
    }
}
