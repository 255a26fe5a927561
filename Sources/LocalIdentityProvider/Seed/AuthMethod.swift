/// A verified place where second-factor codes go.
package struct AuthMethod: Codable, Sendable {
    package var id: String
    /// `email` or `sms`.
    package var channel: String
    package var target: String
    package var isBlocked: Bool

    init(id: String, channel: String, target: String) {
        self.id = id
        self.channel = channel
        self.target = target
        isBlocked = false
    }

    /// The address that someone signs in with.
    init(address: String) { self.init(id: "own-address", channel: "email", target: address) }

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        channel = try container.decodeIfPresent(String.self, forKey: .channel) ?? "email"
        target = try container.decode(String.self, forKey: .target)
        isBlocked = try container.decodeIfPresent(Bool.self, forKey: .isBlocked) ?? false
    }

    /// Whether `text` looks like an e-mail address.
    static func isAddress(_ text: String) -> Bool { text.wholeMatch(of: /[^@\s]+@[^@\s.]+(\.[^@\s.]+)+/) != nil }

    var json: JSON {
        [
            "id": .string(id), "challenge_type": "oob", "challenge_channel": .string(channel),
            "login_hint": .string(Masked.contact(target)),
        ]
    }
}
