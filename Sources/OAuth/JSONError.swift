/// Why bytes are not JSON ([RFC 8259](https://www.rfc-editor.org/rfc/rfc8259)).
public struct JSONError: Error, Hashable, CustomStringConvertible {
    /// What is wrong, never quoting the input.
    public let reason: String

    /// The position of the first byte that does not fit.
    public let offset: Int

    package init(reason: String, offset: Int) {
        self.reason = reason
        self.offset = offset
    }

    public var description: String { "not JSON: \(reason) at byte \(offset)" }
}
