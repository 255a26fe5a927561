/// How the app can ask people to prove who they are (MSAL's `MSALNativeAuthChallengeTypes`).
public struct ChallengeTypes: OptionSet, Sendable {
    public let rawValue: Int

    public init(rawValue: Int) { self.rawValue = rawValue }

    /// A code by e-mail or text message.
    public static let oob = ChallengeTypes(rawValue: 1)
    public static let password = ChallengeTypes(rawValue: 2)

    /// The value of the `challenge_type` parameter; the browser is always a way out.
    var text: String {
        let words = [(Self.oob, "oob"), (Self.password, "password")].filter { contains($0.0) }.map(\.1)
        return (words + ["redirect"]).joined(separator: " ")
    }
}
