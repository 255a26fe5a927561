/// What a rekey did.
public struct RekeyReport: Sendable {
    /// How many values were sealed anew; none when only the key source changed.
    public let resealed: Int

    /// Where the key comes from now.
    public let keySource: String

    /// Whether this finished an earlier rekey that was cut off.
    public let resumed: Bool

    /// What is left for a person to do, a sentence without a full stop; nil if nothing is.
    public let note: String?
}
