/// What a repair saved, and what it could not.
public struct RepairReport: Sendable {
    /// Where the damaged file is kept.
    public let damagedCopy: String

    /// Rows saved, by table.
    public let salvaged: [(table: String, rows: Int)]

    /// Rows known to be lost, by table; nil where some are lost and nobody can tell how many.
    public let lost: [(table: String, rows: Int?)]
}
