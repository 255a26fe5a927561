import OAuth

/// Something that the tenant wants to know of a person who signs up (MSAL's `MSALNativeAuthRequiredAttribute`).
public struct RequiredAttribute: Hashable, Sendable {
    public let name: String

    /// Such as `string`, `integer` or `boolean`.
    public let type: String
    public let required: Bool

    /// The pattern that a value has to match as a whole.
    public let regex: String?

    init?(_ object: JSON.Object) {
        guard let name = object["name"]?.text else { return nil }
        self.name = name
        type = object["type"]?.text ?? "string"
        required = object["required"] != .bool(false)
        regex = object["options"]?.object?["regex"]?.text
    }

    /// Whether `value` fits the pattern; true where there is none, or it is none that can be read here.
    public func accepts(_ value: String) -> Bool {
        guard let regex else { return true }
        // The issuer judges in the end; a pattern of another dialect must not keep anyone out.
        guard let pattern = try? Regex(regex) else { return true }
        return (try? pattern.wholeMatch(in: value)) != nil
    }
}
