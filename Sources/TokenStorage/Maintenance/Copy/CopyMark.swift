import Database
package import OAuth
import SQL
import Sealing

/// How far the copy of a store has come, by its entry in the target's record of use.
///
/// It is written in the transactions that bring the rows: what a copy has brought once it never brings again.
struct CopyMark: Sendable {
    /// The row of the entry.
    let id: Int64

    /// The id of the source.
    let source: String

    /// The last row of an account of the source that was dealt with; the greatest number once all the rest was, too.
    let last: Int64

    /// Whether the target was looked through as well.
    let isDone: Bool

    private init(id: Int64, source: String, last: Int64) {
        (self.id, self.source, self.last, isDone) = (id, source, last, false)
    }

    /// Nil for an entry about something else.
    init?(_ event: StoreEvent, from source: String) {
        guard let stage = event.outcome.droppingPrefix(Self.prefix + source + " ").map(String.init) else { return nil }
        switch stage {
        case Self.begun: last = 0
        case Self.copied, Self.done: last = .max
        default:
            guard let row = stage.droppingPrefix(Self.through).flatMap({ Int64($0) }) else { return nil }
            last = row
        }
        (id, self.source, isDone) = (event.id, source, stage == Self.done)
    }

    /// Whether the outcome of an entry says something about a copy to the store that has it.
    static func isOutcome(_ outcome: String) -> Bool { outcome.hasPrefix(prefix) }

    private static let prefix = "from "
    private static let through = "through "
    private static let begun = "begun"
    private static let copied = "copied"
    private static let done = "done"

    /// Whether the outcome of an entry says that a copy has brought some accounts, and not yet all.
    ///
    /// One that was only begun may have been refused at its start, and then the store is as good as any other.
    static func isPartial(_ outcome: String) -> Bool { isOutcome(outcome) && outcome.contains(" " + through) }

    fileprivate static func isUnfinished(_ outcome: String) -> Bool {
        isOutcome(outcome) && !outcome.hasSuffix(" " + done)
    }

    static func begunOutcome(from source: String) -> String { prefix + source + " " + begun }
    static func doneOutcome(from source: String) -> String { prefix + source + " " + done }

    fileprivate var outcome: String {
        Self.prefix + source + " " + (last == .max ? Self.copied : "\(Self.through)\(last)")
    }

    fileprivate func moved(to last: Int64) -> CopyMark { CopyMark(id: id, source: source, last: last) }
}

extension StoreConnection {
    /// How far the copy of a source has come; nil where none was begun.
    func copyMark(from source: String) throws -> CopyMark? {
        try moves().compactMap { CopyMark($0, from: source) }.last
    }

    /// Whether a copy to here is under way or was cut off, so that accounts may be missing.
    ///
    /// Asked without the key, and by roles that read no sealed column: an altered entry is a doubt as well.
    func holdsPartOfCopy() throws -> Bool { try outcomesOfMoves().contains(where: CopyMark.isPartial) }

    /// What is said of each move and copy from here and to here, oldest first.
    func outcomesOfMoves() throws -> [String] { try connection.all(Self.moveOutcomes) { $0.text(0) } }

    private static let moveOutcomes = SQL { "SELECT outcome FROM event WHERE \(isAnyMove($0)) ORDER BY id" }

    /// Moves are about no account, by which an index finds them among millions of entries: few others are about none.
    static func isAnyMove(_ dialect: Dialect, _ prefix: String = "") -> String {
        dialect.owner("\(prefix)account_id", is: dialect == .sqlite ? "NULL" : "0") + " AND \(prefix)kind = 'move'"
    }

    /// How far a copy is now, in a transaction that no other copy is beside.
    func current(_ mark: CopyMark) throws -> CopyMark {
        if let event = try move(mark.id), let now = CopyMark(event, from: mark.source) { return now }
        // Another process ran the same copy, and came to its end.
        if let other = try copyMark(from: mark.source) { return other }
        throw TokenStoreError.storage("\(location) was emptied while it was filled", .retry)
    }

    /// Marks that a copy has dealt with the accounts of the source up to a row, or with everything.
    func advance(_ mark: CopyMark, to last: Int64) throws -> CopyMark {
        let moved = mark.moved(to: last)
        try setOutcome(moved.outcome, ofMove: mark.id)
        return moved
    }

    /// Begins a copy anew, in a store that holds nothing.
    func beginCopy(from source: String) throws -> CopyMark {
        // Of a copy of another source nothing is left either.
        let old = try moves().filter { CopyMark($0, from: source) != nil || CopyMark.isUnfinished($0.outcome) }
        try record(.move, outcome: CopyMark.begunOutcome(from: source))
        for event in old { try deleteMove(event.id) }
        guard let mark = try copyMark(from: source) else {
            throw TokenStoreError.storage("the record of use of \(location) takes no entry", .retry)
        }
        return mark
    }

    /// Marks a copy as done, for good.
    func endCopy(_ mark: CopyMark) throws {
        let now = try current(mark)
        guard !now.isDone else { return }
        try record(.move, outcome: CopyMark.doneOutcome(from: mark.source))
        try deleteMove(now.id)
    }

    /// Deletes the key of marks that is left of accounts which were here before a copy.
    ///
    /// - Returns: false where a mark under it still counts.
    func givesUpMarkKey(since mark: CopyMark) throws -> Bool {
        guard try rowCount([.markKey]) != 0 else { return true }
        guard mark.last == 0 else { return false }
        // Otherwise a program could use the key behind this look.
        try holdWriters()
        guard try rowCount([.account, .signOut]) == 0, try accountMarks(since: mark).isEmpty else { return false }
        try connection.run("DELETE FROM mark_key")
        return true
    }

    /// The marks of the accounts that programs have used since a copy began, also of those that are gone.
    func accountMarks(since mark: CopyMark) throws -> Set<[UInt8]> {
        let used = try connection.all(Self.marksOfEvents, .integer(mark.id)) { $0.blob(0) }
        // A sign-out of an account that is not there yet leaves no entry in the record of use. No copy begins where
        // one is remembered, so each came since, whatever the clock of its program said.
        let signedOut = try connection.all("SELECT account_mark FROM sign_out") { $0.blob(0) }
        return Set(used + signedOut)
    }

    private static let marksOfEvents = SQL("SELECT account_mark FROM event WHERE id > ?1 AND account_mark IS NOT NULL")
}

// MARK: - A store that is being filled

extension StoreReading {
    /// Whether a copy to here is under way or was cut off: an account that is not here may be missing then.
    package func isFillingFromCopy() throws -> Bool { try read { try $0.holdsPartOfCopy() } }
}

extension TokenStoreError {
    /// The error where no account is found in a store that a copy has not filled.
    package static func filling(_ location: StoreLocation) -> TokenStoreError {
        .busy(
            "a copy to \(location) is under way or was cut off, and accounts may be missing",
            Remedy(.finishCopy, "run that copy again to finish it, or purge everything here")
        ).at(location)
    }
}

extension Remedy.Code {
    /// Finish a copy to here that is under way or was cut off, or purge everything here.
    package static let finishCopy = Remedy.Code(rawValue: "finish_copy")
}
