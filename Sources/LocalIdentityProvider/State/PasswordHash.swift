import Crypto
import CryptoExtras
import Foundation

/// A password as scrypt keeps it.
///
/// The cost is low (N = 2¹⁰, a few milliseconds) because this is a development provider that many tests start.
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
            rounds: 1 << 10,
            blockSize: 8,
            parallelism: 1
        )
    }
}
