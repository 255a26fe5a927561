import OAuth

package struct SeededUser: Codable, Sendable {
    /// The object id; made up when absent.
    package var id: String?
    package var email: String
    /// Absent for someone who signs in with codes.
    package var password: String?
    /// The name of the other provider at which the person signs in, for example `facebook.com`.
    ///
    /// Such a user has no password here.
    package var identityProvider: String?
    @Defaulted package var attributes: [String: String]
    @Defaulted package var methods: [SecondFactorMethod]
    @Defaulted package var isDisabled: Bool
    @Defaulted package var mustResetPassword: Bool
}

/// A verified place where second-factor codes go.
package struct SecondFactorMethod: Codable, Sendable {
    package var id: String
    /// `email` or `sms`.
    package var channel: String
    package var target: String
    @Defaulted package var isBlocked: Bool

    init(id: String, channel: String, target: String) {
        self.id = id
        self.channel = channel
        self.target = target
        isBlocked = false
    }

    /// The address that someone signs in with.
    init(address: String) { self.init(id: "own-address", channel: "email", target: address) }

    /// Whether `text` looks like an e-mail address.
    static func isAddress(_ text: String) -> Bool { text.wholeMatch(of: /[^@\s]+@[^@\s.]+(\.[^@\s.]+)+/) != nil }

    /// The first and last letter of the local part and of the first domain label stay; of a number, the last two
    /// digits.
    var masked: String {
        guard let match = target.wholeMatch(of: /([^@]+)@([^.]+)(.*)/) else { return "***" + target.suffix(2) }
        return [match.1, match.2].map(Self.ends).joined(separator: "@") + match.3
    }

    private static func ends(_ word: Substring) -> String {
        guard word.count > 1, let first = word.first, let last = word.last else { return "***" }
        return "\(first)***\(last)"
    }

    /// As native clients are told of it.
    var json: JSONValue {
        [
            "id": .string(id), "challenge_type": "oob", "challenge_channel": .string(channel),
            "login_hint": .string(masked),
        ]
    }
}
