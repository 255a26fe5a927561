/// The answer of a token endpoint that is neither tokens nor an OAuth error.
public struct UnusableAnswer: Error, Hashable, Sendable, CustomStringConvertible {
    public let status: Int

    /// Whether the body was a JSON object at least.
    public let isJSON: Bool

    public init(status: Int, isJSON: Bool) {
        self.status = status
        self.isJSON = isJSON
    }

    public var description: String {
        let body = isJSON ? "without tokens" : "without JSON"
        return "the token endpoint answered \(status) \(body); check the authority and whatever stands before it"
    }
}
