/// The answers of the challenge endpoints.
extension Reply {
    static func codeSent(_ token: String, to target: String, channel: String) throws -> Reply {
        try .json([
            "continuation_token": .string(token), "challenge_type": "oob", "binding_method": "prompt",
            "challenge_channel": .string(channel), "challenge_target_label": .string(Masked.contact(target)),
            "code_length": 8, "interval": .integer(Lifetime.resendInterval),
        ])
    }

    static func passwordExpected(_ token: String) throws -> Reply {
        try .json(["continuation_token": .string(token), "challenge_type": "password"])
    }

    static func next(_ token: String) throws -> Reply {
        try .json(["continuation_token": .string(token), "expires_in": .integer(Lifetime.continuationToken)])
    }
}
