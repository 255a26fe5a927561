/// A statement that was put together once and is kept in a `static let`, so that it is told from others by its address.
package final class SQL: Sendable {
    /// The text for an engine; most statements have one text for all.
    package let sqlite: String
    package let postgreSQL: String

    /// Where the columns of a row come from; nil: a server is asked for each of them.
    package let sources: ColumnSources?

    package init(_ text: String) {
        (sqlite, postgreSQL) = (text, text)
        sources = nil
    }

    /// A statement that no one text says to both engines.
    package init(_ text: (Dialect) -> String) {
        (sqlite, postgreSQL) = (text(.sqlite), text(.postgreSQL))
        sources = nil
    }

    /// A question for `columns`, of which a server is not asked for those that are parameters: it would send them back.
    ///
    /// Nor is it sent the last parameters where they are nothing but columns.
    package init(selecting columns: [String], _ rest: (Dialect) -> String) {
        func text(_ columns: [String], _ dialect: Dialect) -> String {
            "SELECT \(columns.joined(separator: ", ")) \(rest(dialect))"
        }
        sqlite = text(columns, .sqlite)
        postgreSQL = text(columns.filter { ColumnSources.parameter($0) == nil }, .postgreSQL)
        sources = ColumnSources(columns, of: postgreSQL)
    }
}

/// Where the columns of a row come from: from a server's answer, or from the values that the question was asked with.
///
/// `@unchecked Sendable`: it is written in `init` alone.
package final class ColumnSources: @unchecked Sendable {
    /// Of each column its place in the answer, or `-number` of a parameter.
    package let start: UnsafePointer<Int16>

    /// How many parameters a server is sent.
    package let parameterCount: Int

    /// Of a statement's columns, with the text that a server gets.
    fileprivate init(_ columns: [String], of text: String) {
        let numbers = text.split(separator: "?").dropFirst().map { Int($0.prefix { $0.isASCII && $0.isNumber }) ?? 0 }
        parameterCount = numbers.max() ?? 0
        let places = UnsafeMutablePointer<Int16>.allocate(capacity: columns.count)
        var next: Int16 = 0
        for (index, column) in columns.enumerated() {
            let number = Self.parameter(column)
            places.advanced(by: index).initialize(to: number.map { -$0 } ?? next)
            if number == nil { next += 1 }
        }
        start = UnsafePointer(places)
    }

    deinit { start.deallocate() }

    /// The number of a parameter, if a column is one and nothing else.
    fileprivate static func parameter(_ column: String) -> Int16? {
        column.hasPrefix("?") ? Int16(column.dropFirst()) : nil
    }
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
