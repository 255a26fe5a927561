import Crypto
import CryptoExtras
import Foundation

/// A password as scrypt keeps it.
///
/// The cost is next to nothing (N = 2⁴): this is a development provider, whose passwords are known, and each start of it
/// hashes those of its people.
struct PasswordHash: Sendable {
    private let salt: [UInt8]
    private let key: SymmetricKey

    init(_ password: String) throws {
        salt = RandomToken.bytes(16)
        key = try Self.derive(password, salt)
    }

    /// Compares in constant time.
    func matches(_ password: String) throws -> Bool { try Self.derive(password, salt) == key }

    private static func derive(_ password: String, _ salt: [UInt8]) throws -> SymmetricKey {
        try KDF.Scrypt.deriveKey(
            from: Array(password.utf8),
            salt: salt,
            outputByteCount: 32,
            rounds: 1 << 4,
            blockSize: 8,
            parallelism: 1
        )
    }
}

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

/// The one-time codes of every flow and journey; none is kept in clear (L05).
actor OneTimeCodes {
    private struct Sent {
        var newest: Fingerprint?
        var expires: Date
        var count = 0
        var attempts = 0
    }

    private let clock: ProviderClock
    private let outbox: Outbox
    private var sent: [String: Sent] = [:]

    init(clock: ProviderClock, outbox: Outbox) {
        self.clock = clock
        self.outbox = outbox
    }

    /// Delivers a code for the flow, at most six times; it voids the ones before it.
    func send(_ flowID: String, to method: SecondFactorMethod, purpose: String) throws {
        if sent.count.isMultiple(of: 1024) { sent = sent.filter { $0.value.expires + Lifetime.flow > clock.now } }
        let count = (sent[flowID]?.count ?? 0) + 1
        guard count <= 6 else { throw ProtocolError.tooManyCodes }
        let code = RandomToken.digits()
        sent[flowID] = Sent(newest: Fingerprint(code), expires: clock.now + Lifetime.oneTimeCode, count: count)
        outbox.deliver(code, to: method, purpose: purpose, at: clock.now)
    }

    /// Counts one attempt; after five wrong ones the right code fails too.
    func check(_ code: String, of flowID: String) throws {
        guard let now = sent[flowID], let newest = now.newest, now.attempts < 5, clock.now < now.expires else {
            throw ProtocolError.wrongCode
        }
        guard newest == Fingerprint(code) else {
            sent[flowID]?.attempts += 1
            throw ProtocolError.wrongCode
        }
    }

    /// Voids what was sent, once it has served.
    func forget(_ flowID: String) { sent[flowID]?.newest = nil }
}
