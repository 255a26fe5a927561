import Database
import OAuth
import SQL

/// What a server's tables consist of: columns, constraints, indexes, and what was attached to them, such as triggers.
///
/// What is expected is read from the migrations themselves, so that there is no second list of it.
struct ServerTables {
    /// A part of a table, by its name.
    struct Part: Hashable {
        enum Kind: String {
            case table
            case column
            case value = "NOT NULL"
            case standard = "default"
            case constraint
            case index
            case trigger
            case rule
            /// A constraint of a table elsewhere that refers to this one; its name is the table's and its own, as SQL.
            case reference
        }

        let kind: Kind
        let table: String
        let name: String

        /// As a problem names it.
        var description: String {
            switch kind {
            case .table: "table \(table)"
            case .column: "column \(table).\(name)"
            case .value, .standard: "\(kind.rawValue) of column \(table).\(name)"
            case .constraint, .trigger, .rule: "\(kind.rawValue) \(name) of table \(table)"
            case .index: "index \(name) of table \(table)"
            case .reference: "a reference to table \(table), constraint \(name),"
            }
        }
    }

    /// The parts that the migrations make, in their order.
    private(set) var parts: [Part] = []

    /// What each part is, as a statement defines it.
    private(set) var definitions: [Part: String] = [:]

    var tables: [String] { parts.filter { $0.kind == .table }.map(\.table) }

    /// The parts that the statements make; those that change a table's storage make none.
    init(_ migrations: [Migration]) {
        for statement in migrations.flatMap({ Scanner.statements(of: $0.sql) }) { take(Words(statement)) }
    }

    private mutating func add(_ kind: Part.Kind, _ table: String, _ name: String, _ definition: String) {
        let part = Part(kind: kind, table: table, name: name)
        parts.append(part)
        definitions[part] = definition
    }

    private mutating func take(_ statement: Words) {
        let words = statement.all
        if words.starts(with: ["CREATE", "TABLE"]), words.count > 3 {
            add(.table, words[2], words[2], "table")
            for item in Words.items(of: words[3]) { take(item, of: words[2]) }
            requireKeyValues(of: words[2])
        } else if words.first == "CREATE", let end = words.firstIndex(of: "ON"), end + 2 < words.count {
            // CREATE [UNIQUE] INDEX name ON table (columns) [WHERE condition]
            add(.index, words[end + 1], words[end - 1], words.joined(separator: " "))
        }
    }

    /// Takes a column, or a constraint that is written like one.
    private mutating func take(_ item: Words, of table: String) {
        let words = item.all
        guard let first = words.first, words.count > 1 else { return }
        switch first {
        case "PRIMARY": add(.constraint, table, "\(table)_pkey", item.text)
        case "UNIQUE": add(.constraint, table, Self.name(table, words[1], "key"), item.text)
        case "FOREIGN": add(.constraint, table, Self.name(table, words[2], "fkey"), item.text)
        default: takeColumn(words, of: table)
        }
    }

    /// A column of a primary key has a value in every row.
    private mutating func requireKeyValues(of table: String) {
        let key = definitions[Part(kind: .constraint, table: table, name: "\(table)_pkey")] ?? ""
        for column in Self.names(in: String(key.drop { $0 != "(" })) {
            guard definitions[Part(kind: .value, table: table, name: column)] == nil else { continue }
            add(.value, table, column, "NOT NULL")
        }
    }

    private mutating func takeColumn(_ words: [String], of table: String) {
        let (column, columns) = (words[0], "(\(words[0]))")
        func following(_ word: String) -> String? {
            words.firstIndex(of: word).flatMap { $0 + 1 < words.count ? words[$0 + 1] : nil }
        }
        let type = Self.fullNames[words[1]] ?? words[1]
        let collation = following("COLLATE").map { " COLLATE \($0)" } ?? ""
        add(.column, table, column, type + collation)
        if following("NOT") == "NULL" { add(.value, table, column, "NOT NULL") }
        if let value = following("DEFAULT") { add(.standard, table, column, value) }
        if following("PRIMARY") != nil { add(.constraint, table, "\(table)_pkey", "PRIMARY KEY \(columns)") }
        if words.contains("UNIQUE") { add(.constraint, table, Self.name(table, columns, "key"), "UNIQUE \(columns)") }
        if let condition = following("CHECK") {
            add(.constraint, table, Self.name(table, columns, "check"), "CHECK \(condition)")
        }
        guard let start = words.firstIndex(of: "REFERENCES") else { return }
        let reference = words[start...].joined(separator: " ")
        add(.constraint, table, Self.name(table, columns, "fkey"), "FOREIGN KEY \(columns) \(reference)")
    }

    /// The server's own name for a constraint without one.
    private static func name(_ table: String, _ columns: String, _ suffix: String) -> String {
        ([table] + names(in: columns) + [suffix]).joined(separator: "_")
    }

    private static func names(in brackets: String) -> [String] {
        brackets.dropFirst().dropLast().split(separator: ",").map { $0.filter { !$0.isWhitespace } }
    }

    /// Types whose names the server writes out.
    private static let fullNames = ["timestamptz": "timestamp with time zone"]
}

/// A statement's words; what stands in brackets belongs to one word.
private struct Words {
    let all: [String]

    var text: String { all.joined(separator: " ") }

    /// The words of a text without comments.
    init(_ text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map { (line: Substring) -> Substring in
            line.firstRange(of: "--").map { line[..<$0.lowerBound] } ?? line
        }
        self.init(plain: lines.joined(separator: " "))
    }

    private init(plain text: String) { all = Self.parts(of: text) { $0.isWhitespace } }

    /// What stands between the commas in brackets.
    static func items(of brackets: String) -> [Words] {
        parts(of: String(brackets.dropFirst().dropLast())) { $0 == "," }.map { Words(plain: $0) }
    }

    private static func parts(of text: String, between isSeparator: (Character) -> Bool) -> [String] {
        var depth = 0
        return text.split { character in
            if character == "(" { depth += 1 }
            if character == ")" { depth -= 1 }
            return depth == 0 && isSeparator(character)
        }.map(String.init)
    }
}
