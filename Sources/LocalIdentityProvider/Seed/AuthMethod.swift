/// A verified place where second-factor codes go.
package struct AuthMethod: Codable, Sendable, Hashable {
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

    package init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        channel = try container.decodeIfPresent(String.self, forKey: .channel) ?? "email"
        target = try container.decode(String.self, forKey: .target)
        isBlocked = try container.decodeIfPresent(Bool.self, forKey: .isBlocked) ?? false
    }

    var json: JSON {
        [
            "id": .string(id), "challenge_type": "oob", "challenge_channel": .string(channel),
            "login_hint": .string(Masked.contact(target)),
        ]
    }
}
