public import OAuth

/// The answer of a policy: one account, none, or several, with the reasons.
public struct AccountSelection: Sendable {
    public let outcome: Outcome

    /// How many accounts fit; the outcome of an ambiguous policy names a few dozen of them.
    public let fitting: Int

    /// The accounts looked at, with the reason each was taken or left; at most a few dozen.
    public let considered: [Consideration]

    /// What a policy leaves.
    public enum Outcome: Sendable {
        case account(Account)
        case none
        case ambiguous([Account])
    }

    /// An account and why it was taken or left.
    public struct Consideration: Sendable {
        public let account: Account
        public let isTaken: Bool

        /// A sentence without a full stop.
        public let reason: String
    }
}
