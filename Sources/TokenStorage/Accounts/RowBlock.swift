import Dispatch
import OAuth
import Synchronization

/// Rows of a file that are read together: in the order of their ids, whatever order a list has.
///
/// In the order of names each account would be read from other pages than the one before it. With more pages than the
/// cache holds all of them would come from the file, ten for each account. While the rows of one block are told, a
/// second reader reads those of the next.
struct RowBlock<Read: Sendable> {
    private static var largest: Int { 8_192 }

    private let read: @Sendable (StoreConnection, Int64) throws -> Read

    /// The first blocks are small, so that a long list begins at once.
    private var size = 512
    private var rows: [Int64] = []
    private var underWay: SharedReading<Read>?

    init(reading read: @escaping @Sendable (StoreConnection, Int64) throws -> Read) { self.read = read }

    /// Adds a row, and once the block is full calls `body` with each row of the one before and with what was read of
    /// it, in the order they came.
    ///
    /// - Returns: false once `body` did.
    mutating func add(
        _ row: Int64,
        by session: StoreConnection,
        _ body: (Int64, Read) throws -> Bool
    ) throws -> Bool {
        rows.append(row)
        return try rows.count < size || pass(by: session, body)
    }

    /// Calls `body` with all that is left.
    ///
    /// Where a row cannot be read, `body` still gets those before it, and then the error is thrown.
    mutating func finish(by session: StoreConnection, _ body: (Int64, Read) throws -> Bool) throws {
        guard try rows.isEmpty || pass(by: session, body) else { return }
        let last = underWay
        underWay = nil
        _ = try last?.forEach(by: session, body)
    }

    /// Begins to read the rows that have come, and calls `body` with those before them; without a second reader with
    /// them.
    private mutating func pass(by session: StoreConnection, _ body: (Int64, Read) throws -> Bool) throws -> Bool {
        let new = SharedReading(rows, read)
        rows.removeAll(keepingCapacity: true)
        size = min(2 * size, Self.largest)
        guard let second = session.second else { return try new.forEach(by: session, body) }
        second.help(with: new)
        let before = underWay
        // After `body` has returned false, or thrown, it is not called with the rows that are under way.
        underWay = nil
        guard try before?.forEach(by: session, body) ?? true else { return false }
        underWay = new
        return true
    }
}

/// Rows that both readers read, piece by piece.
private final class SharedReading<Read: Sendable>: SharedWork {
    private struct State {
        /// How many rows are read, or being read.
        var count = 0
        var found: [Read?]
    }

    private static var pieceSize: Int { 32 }

    private let rows: [Int64]
    private let order: [Int]
    private let read: @Sendable (StoreConnection, Int64) throws -> Read
    private let state: LockedValue<State>
    private let piecesUnderWay = DispatchGroup()

    init(_ rows: [Int64], _ read: @escaping @Sendable (StoreConnection, Int64) throws -> Read) {
        (self.rows, self.read) = (rows, read)
        order = rows.indices.sorted { rows[$0] < rows[$1] }
        state = LockedValue(State(found: Array(repeating: nil, count: rows.count)))
    }

    func advance(by session: StoreConnection) throws -> Bool {
        let piece = nextPiece()
        guard !piece.isEmpty else { return false }
        var found: [Read] = []
        defer {
            state.withLock { state in
                for (index, value) in zip(piece, found) { state.found[index] = value }
            }
            piecesUnderWay.leave()
        }
        found = try session.inOneTransaction { try piece.map { try read(session, rows[$0]) } }
        return true
    }

    private func nextPiece() -> ArraySlice<Int> {
        state.withLock { state in
            let piece = order[state.count...].prefix(Self.pieceSize)
            state.count += piece.count
            if !piece.isEmpty { piecesUnderWay.enter() }
            return piece
        }
    }

    /// Calls `body` with each row and what was read of it, until it returns false.
    func forEach(by session: StoreConnection, _ body: (Int64, Read) throws -> Bool) throws -> Bool {
        do {
            while try advance(by: session) {}
        } catch {
            // Said when it is the turn of the row that it is about. The second reader begins no further piece.
            state.withLock { $0.count = order.count }
        }
        piecesUnderWay.wait()
        session.second?.forget(self)
        let found = state.withLock { state in
            defer { state.found = [] }
            return state.found
        }
        for (row, value) in zip(rows, found) {
            guard try body(row, value ?? read(session, row)) else { return false }
        }
        return true
    }
}
