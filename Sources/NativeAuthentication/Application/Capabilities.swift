/// What the app can do beyond a first factor (MSAL's `MSALNativeAuthCapabilities`).
///
/// Where one is needed that was not announced, the issuer sends the person to the browser.
public struct Capabilities: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    public static let mfaRequired = Capabilities(rawValue: 1)
    public static let registrationRequired = Capabilities(rawValue: 2)

    /// The value of the `capabilities` parameter; nil leaves it out.
    var text: String? {
        let words = [(Self.mfaRequired, "mfa_required"), (Self.registrationRequired, "registration_required")]
        let announced = words.filter { contains($0.0) }.map(\.1).joined(separator: " ")
        return announced.isEmpty ? nil : announced
    }
}
