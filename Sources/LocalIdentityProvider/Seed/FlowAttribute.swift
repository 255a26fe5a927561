/// An attribute that a sign-up asks for.
package struct FlowAttribute: Codable, Sendable {
    package var name: String
    /// Nil means yes.
    package var isRequired: Bool?
}
