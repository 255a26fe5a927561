import Database
import SQL

/// One change of a row that anyone can make who may write the file, without its key.
struct RowEdit {
    let table: String
    let column: String
    let kind: Kind

    /// The rows of the accounts whose rows it changes or exchanges.
    let accounts: Set<Int64>
    fileprivate let statements: [(sql: String, values: [Value])]

    enum Kind: String, CaseIterable {
        case cleared
        case invented
        case shifted
        case borrowed = "borrowed from another row"
        case anyValue = "a value of any column"
        case exchanged = "exchanged with another row"
        case deleted = "a row deleted"
        case copied = "a row copied"
    }

    /// Makes the change.
    ///
    /// - Returns: whether there was one; the schema does not take every value.
    func apply(to path: String) throws -> Bool {
        let connection = try Connection(path: path, mode: .readWrite, busyTimeout: .seconds(5))
        try connection.execute("PRAGMA foreign_keys = OFF; PRAGMA synchronous = OFF")
        do {
            try connection.write {
                for statement in statements {
                    try connection.prepare(statement.sql).run(statement.values)
                    guard connection.changes > 0 else { throw NoChange() }
                }
            }
            return true
        } catch let error where error is SQLiteError || error is NoChange {
            return false
        }
    }

    private struct NoChange: Error {}
}

/// What a store's tables hold in the clear, to draw edits from.
struct ClearColumns: Sendable {
    private struct Table: Sendable {
        let name: String
        let columns: [String]
        var rows: [[Value]] = []
    }

    /// Sealed values, and proofs that a row was not edited.
    private static let sealed: Set = ["extra", "secret", "entry", "mac", "wrapped"]

    private static let inventions: [Value] = [
        .text(""), .text("signed_in"), .text("signed_out"), .text("https://evil.example"), .text("evil.example"),
        .text("1"), .text("api://d/read"), .text("pop"), .text("app-two"), .integer(0), .integer(1), .integer(2),
        .integer(-1), .integer(PlantedStore.now + 1_000_000), .integer(PlantedStore.now - 1), .integer(1 << 60),
        .blob([]), .blob([1, 2, 3, 4, 5, 6, 7, 8]),
    ]

    private var tables: [Table] = []
    private var places: [(table: Int, column: Int)] = []
    private var values: [Value] = []

    /// How many columns there are.
    var count: Int { places.count }

    init(of path: String) throws {
        let connection = try Connection(path: path, mode: .readWrite, busyTimeout: .seconds(5))
        let names = try connection.all(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
        ) { $0.text(0) }
        for name in names {
            let statement = try connection.prepare("SELECT * FROM \(name)")
            var columns: [String] = []
            try connection.prepare("SELECT name FROM pragma_table_info('\(name)')").forEach([]) {
                columns.append($0.text(0))
                return true
            }
            var table = Table(name: name, columns: columns)
            try statement.forEach([]) { row in
                table.rows.append((0..<row.columnCount).map { row.value($0) })
                return true
            }
            // A user's name is sealed, a column of that name elsewhere is not.
            let clear = columns.indices.filter {
                !Self.sealed.contains(columns[$0]) && (name, columns[$0]) != ("account", "name")
            }
            guard !table.rows.isEmpty else { throw BenchFailure("the table \(name) has no row to edit") }
            places += clear.map { (tables.count, $0) }
            for row in table.rows { values += clear.map { row[$0] } }
            tables.append(table)
        }
    }

    func edit(_ random: inout RandomText) throws -> RowEdit {
        let place = places[Int.random(in: places.indices, using: &random)]
        let table = tables[place.table]
        let (row, other) = (random.element(of: table.rows), random.element(of: table.rows))
        let kind = random.element(of: RowEdit.Kind.allCases)
        let old = row[place.column]
        func changed(to value: Value) -> [(String, [Value])] {
            [Self.update(table.name, table.columns, row, place.column, value)]
        }
        let statements: [(String, [Value])] =
            switch kind {
            case .cleared: changed(to: .null)
            case .invented: changed(to: random.element(of: Self.inventions))
            case .shifted: changed(to: Self.shift(old, &random))
            case .borrowed: changed(to: other[place.column])
            case .anyValue: changed(to: random.element(of: values))
            case .exchanged: Self.exchange(table.name, table.columns, row, other, place.column)
            case .deleted: [("DELETE FROM \(table.name) WHERE \(Self.condition(table.columns))", row)]
            case .copied: [Self.copy(table.name, table.columns, table.rows, row, place.column, other[place.column])]
            }
        return RowEdit(
            table: table.name,
            column: table.columns[place.column],
            kind: kind,
            accounts: Set((kind == .exchanged ? [row, other] : [row]).compactMap { account(of: $0, in: table) }),
            statements: statements
        )
    }

    /// The row of the account that a row is of.
    private func account(of row: [Value], in table: Table) -> Int64? {
        switch table.name {
        case "account": return row[0].number
        case "refresh_attempt", "claim_index":
            // These name a token by its row.
            let name = table.name == "claim_index" ? "id_token" : "refresh_token"
            guard let owner = tables.first(where: { $0.name == name }) else { return nil }
            return owner.rows.first { $0[0] == row[0] }.flatMap { account(of: $0, in: owner) }
        default: return table.columns.firstIndex(of: "account_id").flatMap { row[$0].number }
        }
    }

    private static func condition(_ columns: [String]) -> String {
        columns.enumerated().map { "\($1) IS ?\($0 + 1)" }.joined(separator: " AND ")
    }

    private static func update(
        _ table: String,
        _ columns: [String],
        _ row: [Value],
        _ column: Int,
        _ value: Value
    ) -> (String, [Value]) {
        let (name, number) = (columns[column], columns.count + 1)
        let sql = "UPDATE \(table) SET \(name) = ?\(number) WHERE \(condition(columns)) AND \(name) IS NOT ?\(number)"
        return (sql, row + [value])
    }

    /// By way of a value that no row has, as some are unique.
    private static func exchange(
        _ table: String,
        _ columns: [String],
        _ row: [Value],
        _ other: [Value],
        _ column: Int
    ) -> [(String, [Value])] {
        guard row[column] != other[column] else { return [("DELETE FROM \(table) WHERE 0", [])] }
        let aside: Value =
            switch row[column] {
            case .text: .text("aside")
            case .blob: .blob([0])
            case .integer, .null: .integer(1 << 50)
            }
        var moved = row
        moved[column] = aside
        return [
            update(table, columns, row, column, aside), update(table, columns, other, column, row[column]),
            update(table, columns, moved, column, other[column]),
        ]
    }

    /// A row like another one but for its id and one column.
    private static func copy(
        _ table: String,
        _ columns: [String],
        _ rows: [[Value]],
        _ row: [Value],
        _ column: Int,
        _ value: Value
    ) -> (String, [Value]) {
        var copy = row
        copy[column] = value
        if columns[0] == "id" { copy[0] = .integer(Int64(rows.count) + 100) }
        let parameters = columns.indices.map { "?\($0 + 1)" }.joined(separator: ", ")
        return ("INSERT INTO \(table) VALUES (\(parameters))", copy)
    }

    private static func shift(_ value: Value, _ random: inout RandomText) -> Value {
        switch value {
        case .null: .integer(1)
        case .integer(let number): .integer(number &+ random.element(of: [-100_000, -1, 1, 60, 100_000]))
        case .text(let text):
            .text(random.element(of: [text + "x", text + " ", text.uppercased(), String(text.dropLast())]))
        case .blob(let bytes): .blob(bytes.dropLast() + [(bytes.last ?? 0) ^ 1])
        }
    }
}

extension Value {
    fileprivate var number: Int64? {
        guard case .integer(let number) = self else { return nil }
        return number
    }
}

extension RandomText {
    fileprivate mutating func element<Element>(of list: [Element]) -> Element {
        list[Int.random(in: list.indices, using: &self)]
    }
}
