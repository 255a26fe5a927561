import Crypto
import CryptoExtras
import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A key that scrypt derives from a passphrase, a salt and a cost (RFC 7914).
struct PassphraseKey {
    let passphrase: Passphrase
    let context: KeySourceContext

    func load() throws(SealingError) -> KeyEncryptionKey {
        let parameters = context.parameters
        guard let text = parameters["salt"], let salt = Data(base64Encoded: text), (16...64).contains(salt.count),
            let rounds = parameters["N"].flatMap({ Int($0) }),
            let blockSize = parameters["r"].flatMap({ Int($0) }),
            let parallelism = parameters["p"].flatMap({ Int($0) })
        else {
            throw .keyMalformed("the store does not say how its passphrase was used; restore the store from a copy")
        }
        let cost = ScryptCost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)
        guard cost.isBearable else {
            throw .keyMalformed(
                """
                the store asks for scrypt with N=\(rounds) r=\(blockSize) p=\(parallelism), which no version of \
                tokenstore chooses; restore the store from a copy
                """
            )
        }
        return try derive(from: passphrase.obtain(confirm: false), salt: Array(salt), cost)
    }

    /// A key under a new salt, with what ``load()`` needs to derive it again.
    func create() throws(SealingError) -> (key: KeyEncryptionKey, parameters: [String: String]) {
        let salt = Secret.random(count: 16).withUnsafeBytes { Array($0) }
        let cost = context.scryptCost
        let key = try derive(from: passphrase.obtain(confirm: true), salt: salt, cost)
        let parameters = [
            "salt": Data(salt).base64EncodedString(),
            "N": String(cost.rounds),
            "r": String(cost.blockSize),
            "p": String(cost.parallelism),
        ]
        return (key, parameters)
    }

    private func derive(
        from passphrase: Secret,
        salt: [UInt8],
        _ cost: ScryptCost
    ) throws(SealingError) -> KeyEncryptionKey {
        do {
            let derived = try passphrase.withUnsafeBytes {
                try KDF.Scrypt.deriveKey(
                    from: $0,
                    salt: salt,
                    outputByteCount: KeyEncryptionKey.byteCount,
                    rounds: cost.rounds,
                    blockSize: cost.blockSize,
                    parallelism: cost.parallelism
                )
            }
            return KeyEncryptionKey(bytes: derived.withUnsafeBytes { Secret(copying: $0) })
        } catch {
            throw .keyUnavailable("scrypt could not be run, it needs \(cost.mebibytes) MiB; free memory and try again")
        }
    }
}
