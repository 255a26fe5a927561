import CryptoExtras

/// Keys for providers of tests, made once, because a debug build takes its time to find primes.
package enum SigningKeys {
    package static let pem: Result<[String], any Error> = Result {
        try (0..<8).map { _ in try _RSA.Signing.PrivateKey(keySize: .bits2048).pemRepresentation }
    }
}
