import Crypto
import CryptoExtras
import OAuth
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
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
            throw .keyMalformed(
                "the store does not say how its passphrase was used",
                Remedy(.restore, "restore the store from a copy")
            )
        }
        let cost = ScryptCost(rounds: rounds, blockSize: blockSize, parallelism: parallelism)
        guard cost.isBearable else {
            throw .keyMalformed(
                """
                the store asks for scrypt with N=\(rounds) r=\(blockSize) p=\(parallelism), which no version of \
                this library chooses
                """,
                Remedy(.restore, "restore the store from a copy")
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
            throw .keyUnavailable(
                "scrypt could not be run, it needs \(cost.mebibytes) MiB",
                Remedy(.freeSpace, "free memory and try again")
            )
        }
    }
}

/// Where a passphrase comes from: a file descriptor if one is named, else the environment, else the terminal.
package struct Passphrase {
    private static let variable = "TOKENSTORE_PASSPHRASE"
    private static let limit = 4096

    let descriptor: Int32?
    let context: KeySourceContext

    /// Forgets the passphrases of a store that descriptors gave: one that does not open it is not to be tried for ever.
    package static func forget(of storeID: [UInt8]) { ReadPassphrases.shared.forget(of: storeID) }

    /// Asks for it twice if `confirm`, where it is asked for.
    func obtain(confirm: Bool) throws(SealingError) -> Secret {
        let passphrase =
            if let descriptor {
                try ReadPassphrases.shared.passphrase(of: context.storeID, from: descriptor, isNew: confirm) {
                    () throws(SealingError) in try line(of: descriptor)
                }
            } else if let text = context.environment[Self.variable] {
                Secret(text)
            } else if let ask = context.askPassphrase {
                try answer(of: ask, confirm: confirm)
            } else {
                throw SealingError.keyUnavailable(
                    "no passphrase was given",
                    .provideKey(
                        "set \(Self.variable), run in a terminal, or name a file descriptor",
                        or: "passphrase:fd=N"
                    )
                )
            }
        guard passphrase.count > 0 else {
            throw .keyMalformed("the passphrase is empty", .provideKey("give one that is not"))
        }
        return passphrase
    }

    /// Makes sure that there is one, or a way to ask for it; reads nothing.
    func requireGiven() throws(SealingError) {
        if let descriptor {
            guard isOpenForReading(descriptor) else { throw unreadable(descriptor) }
            return
        }
        if context.environment[Self.variable] != nil || context.askPassphrase == nil { _ = try obtain(confirm: true) }
    }

    private func answer(
        of ask: @Sendable (Bool) throws -> Secret,
        confirm: Bool
    ) throws(SealingError) -> Secret {
        do {
            return try ask(confirm)
        } catch let error as SealingError {
            throw error
        } catch {
            throw .keyUnavailable("no passphrase was entered, \(error)", .retry)
        }
    }

    /// The bytes before the first newline, and nothing after it: the rest of the descriptor is for other readers.
    private func line(of descriptor: Int32) throws(SealingError) -> Secret {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.limit, alignment: 1)
        defer {
            wipe(buffer)
            buffer.deallocate()
        }
        var count = 0
        while let byte = try nextByte(of: descriptor), byte != UInt8(ascii: "\n") {
            guard count < buffer.count else {
                throw .keyMalformed(
                    "the passphrase has more than \(Self.limit) bytes",
                    .provideKey("give a shorter one")
                )
            }
            buffer[count] = byte
            count += 1
        }
        return Secret(copying: UnsafeRawBufferPointer(rebasing: buffer[..<count]))
    }

    private func nextByte(of descriptor: Int32) throws(SealingError) -> UInt8? {
        var byte: UInt8 = 0
        while true {
            let count = read(descriptor, &byte, 1)
            if count >= 0 { return count == 0 ? nil : byte }
            guard mayTryAgain(descriptor, once: POLLIN) else { throw unreadable(descriptor) }
        }
    }

    private func unreadable(_ descriptor: Int32) -> SealingError {
        let reason = String(cString: strerror(errno)).lowercased()
        return .keyUnavailable(
            "no passphrase can be read from file descriptor \(descriptor), \(reason)",
            .provideKey("open it, as in '3< file'")
        )
    }
}

/// The passphrases that were read from descriptors, which give each only once: a store may be opened again.
private final class ReadPassphrases: Sendable {
    static let shared = ReadPassphrases()

    /// A descriptor of one number may be another's later, and have the passphrases of several stores, a line each.
    private struct Place: Hashable {
        let descriptor: Int32
        let device: UInt64
        let file: UInt64
        let store: [UInt8]

        init?(_ descriptor: Int32, _ store: [UInt8]) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { return nil }
            self.descriptor = descriptor
            self.store = store
            device = UInt64(truncatingIfNeeded: status.st_dev)
            file = UInt64(status.st_ino)
        }

        /// Whether both are of one descriptor.
        func isFile(of other: Place) -> Bool {
            descriptor == other.descriptor && device == other.device && file == other.file
        }
    }

    private let known = LockedValue<[Place: Secret]>([:])

    /// What was read for the store before, unless a new passphrase is wanted; else what `read` does.
    func passphrase(
        of store: [UInt8],
        from descriptor: Int32,
        isNew: Bool,
        _ read: () throws(SealingError) -> Secret
    ) throws(SealingError) -> Secret {
        guard let place = Place(descriptor, store) else { return try read() }
        if !isNew, let passphrase = known.withLock({ $0[place] }) { return passphrase }
        let passphrase = try read()
        if passphrase.count > 0 { known.withLock { $0[place] = passphrase } }
        return passphrase
    }

    /// The next line of a descriptor that has given another store's is that store's, and not tried for this one.
    func forget(of store: [UInt8]) {
        known.withLock { known in
            let others = known.keys.filter { $0.store != store }
            for place in known.keys where place.store == store && !others.contains(where: place.isFile(of:)) {
                known[place] = nil
            }
        }
    }
}

/// What scrypt spends on one guess of a passphrase (RFC 7914).
package struct ScryptCost: Hashable, Sendable {
    /// N, a power of two.
    package let rounds: Int
    /// r.
    package let blockSize: Int
    /// p.
    package let parallelism: Int

    /// A quarter of a second and 128 MiB.
    package static let standard = ScryptCost(rounds: 1 << 17, blockSize: 8, parallelism: 1)

    package init(rounds: Int, blockSize: Int, parallelism: Int) {
        self.rounds = rounds
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// Whether a store may ask for it: at most 1 GiB, and at most 16 times the standard work.
    ///
    /// A hostile store must not make its reader run out of memory or time.
    var isBearable: Bool {
        guard (2...(1 << 20)).contains(rounds), rounds.nonzeroBitCount == 1 else { return false }
        guard (1...16).contains(blockSize), (1...16).contains(parallelism) else { return false }
        return mebibytes <= 1024 && rounds * blockSize * parallelism <= 16 << 20
    }

    var mebibytes: Int { 128 * rounds * blockSize / (1 << 20) }
}
