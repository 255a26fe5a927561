/// What a new password must be (L06); the checks run in this order.
enum PasswordPolicy {
    private static let banned = ["password", "qwerty", "letmein", "welcome", "admin123", "iloveyou", "fabrikvine"]

    static func hash(_ password: String, for email: String) throws -> PasswordHash {
        guard password.unicodeScalars.allSatisfy({ (0x20...0x7E).contains($0.value) }) else {
            throw ProtocolError.password("password_is_invalid", "Use printable ASCII only.")
        }
        guard password.count >= 8 else { throw ProtocolError.password("password_too_short", "Use at least 8.") }
        guard password.count <= 256 else { throw ProtocolError.password("password_too_long", "Use at most 256.") }
        guard kinds(of: password) >= 3 else {
            let text = "Use three of upper case, lower case, digits and symbols."
            throw ProtocolError.password("password_too_weak", text, number: 399_246)
        }
        let words = banned.map(undisguised) + [undisguised(String(email.prefix { $0 != "@" }))].filter { $0.count > 2 }
        guard !words.contains(where: undisguised(password).contains) else {
            throw ProtocolError.password("password_banned", "The password is too easy to guess.")
        }
        return try PasswordHash(password)
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
