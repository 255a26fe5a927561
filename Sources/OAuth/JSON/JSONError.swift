/// Why bytes are not JSON ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)).
public struct JSONError: CodedError, Hashable {
    /// Which problem it is; a new version may add codes.
    public struct Code: ErrorCode {
        /// The name by which it is compared and printed.
        public let rawValue: String

        /// One of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The bytes are not a JSON document.
        public static let malformed = Code(rawValue: "malformed")

        /// Those of this version; a later one may have more.
        public static let known = [malformed]
    }

    /// The domain of the error as an `NSError`.
    public static var domain: String { "OAuth.JSONError" }

    /// What went wrong, for programs.
    public var code: Code { .malformed }

    /// What went wrong, in one sentence without advice.
    public var problem: String { "not JSON: \(reason) at byte \(offset)" }

    /// What may help; nil if nothing is known.
    public var remedy: Remedy? { nil }

    /// The problem, without any text of the input.
    public let reason: String

    /// The position of the first byte that does not fit.
    public let offset: Int

    package init(reason: String, offset: Int) {
        self.reason = reason
        self.offset = offset
    }
}
