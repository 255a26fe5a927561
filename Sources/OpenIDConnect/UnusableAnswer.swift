package import OAuth

/// The answer of a token endpoint that is neither tokens nor an OAuth error.
public struct UnusableAnswer: Error, Hashable, Sendable, CustomStringConvertible {
    public let status: Int

    /// Whether the body was a JSON object at least.
    public let isJSON: Bool

    /// The field whose text RFC 6749 does not allow, where that is what is wrong.
    public let malformedField: String?

    public init(status: Int, isJSON: Bool, malformedField: String? = nil) {
        self.status = status
        self.isJSON = isJSON
        self.malformedField = malformedField
    }

    public var description: String {
        if let malformedField {
            return "the answer of the token endpoint has characters in \(malformedField) that RFC 6749 forbids, and it "
                + "was not used; report it to the operator of the issuer"
        }
        let body = isJSON ? "without tokens" : "without JSON"
        return "the token endpoint answered \(status) \(body); check the authority and whatever stands before it"
    }
}

extension TokenResponse {
    /// Refuses tokens that no terminal and no header is to meet.
    ///
    /// - Throws: ``UnusableAnswer``; the refresh token of such an answer may be good all the same.
    package func requireTokenText() throws(UnusableAnswer) {
        guard let field = malformedFields.first else { return }
        throw UnusableAnswer(status: 200, isJSON: true, malformedField: field)
    }
}
