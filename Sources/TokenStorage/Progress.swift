/// How far a long piece of work is.
public struct Progress: Sendable {
    public let done: Int

    /// Nil if it is not known.
    public let total: Int?

    /// What is counted, in the plural.
    public let unit: String
}
