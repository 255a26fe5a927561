/// What a new password must be; the checks run in this order.
enum PasswordPolicy {
    private static let banned = ["password", "qwerty", "letmein", "welcome", "admin123", "iloveyou", "fabrikvine"]

    /// The hash of a password that may be used.
    static func hash(_ password: String, for email: String) throws -> PasswordHash {
        try check(password, for: email)
        return try PasswordHash(password)
    }

    private static func check(_ password: String, for email: String) throws {
        guard password.unicodeScalars.allSatisfy({ (0x20...0x7E).contains($0.value) }) else {
            throw ProtocolError.password("password_is_invalid", "The password has characters outside printable ASCII.")
        }
        guard password.count >= 8 else {
            throw ProtocolError.password("password_too_short", "Use at least 8 characters.")
        }
        guard password.count <= 256 else {
            throw ProtocolError.password("password_too_long", "Use at most 256 characters.")
        }
        guard kinds(of: password) >= 3 else {
            throw ProtocolError.password(
                "password_too_weak",
                "Use three of upper case, lower case, digits and symbols.",
                number: 399_246
            )
        }
        let plain = undisguised(password)
        let local = undisguised(String(email.prefix { $0 != "@" }))
        guard !banned.contains(where: { plain.contains(undisguised($0)) }), local.count < 3 || !plain.contains(local)
        else {
            throw ProtocolError.password("password_banned", "The password contains a word that is too easy to guess.")
        }
    }

    private static func kinds(of password: String) -> Int {
        [
            password.contains(where: \.isUppercase), password.contains(where: \.isLowercase),
            password.contains(where: \.isNumber), password.contains { !$0.isLetter && !$0.isNumber },
        ].filter { $0 }.count
    }

    private static func undisguised(_ text: String) -> String {
        let letters: [Character: Character] = ["0": "o", "1": "l", "3": "e", "4": "a", "5": "s", "$": "s", "@": "a"]
        return String(text.lowercased().map { letters[$0] ?? $0 })
    }
}
