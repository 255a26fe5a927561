/// What a repair saved, and what it could not.
public struct RepairReport: Sendable {
    /// Where the damaged file is kept.
    public let damagedCopy: String

    /// Rows saved, by table.
    public let salvaged: [(table: String, rows: Int)]

    /// Rows known to be lost, by table; nil where some are lost and their number is not known.
    public let lost: [(table: String, rows: Int?)]

    /// The sign-ins that are lost, as far as anything in the damaged file still names them.
    public let lostSignIns: [LostSignIn]

    /// Whether other sign-ins may be lost besides, of which no trace could be read.
    public let mayHaveLostOthers: Bool
}

/// A sign-in that a repair could not save: its account has to sign in again.
///
/// It is told from what the damaged file says elsewhere, so that each part of it may be missing; identifiers may be in
/// the lower case in which the store compares them.
public struct LostSignIn: Hashable, Sendable {
    public let username: String?
    public let homeAccountID: String?
    public let authority: String?

    /// The client whose refresh token is lost; nil if the account itself is.
    public let clientID: String?
}
