import Crypto
import OAuth
import Testing

@testable import Sealing

/// The key with a schedule, and swift-crypto's own interface: what one seals the other opens.
struct ValueCipherTests {
    private static let key = SymmetricKey(data: [UInt8](0..<32))
    private static let engines = [ValueCipher(key), ValueCipher.withoutSchedule(key)]
    private static let context: [UInt8] = Array("access_token secret".utf8)

    private static func seal(_ text: [UInt8], with cipher: ValueCipher) throws -> [UInt8] {
        let count = SealedFormat.nonceCount + text.count + SealedFormat.tagCount
        return try [UInt8](unsafeUninitializedCapacity: count) { box, written in
            let place = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(box)[..<count])
            try text.withUnsafeBytes { text in
                try context.withUnsafeBytes { try cipher.seal(text, authenticating: $0, into: place) }
            }
            written = count
        }
    }

    private static func open(_ box: [UInt8], _ context: [UInt8] = context, with cipher: ValueCipher) throws -> [UInt8] {
        let secret = try box.withUnsafeBytes { box in
            try context.withUnsafeBytes { try cipher.open(box, authenticating: $0) }
        }
        return secret.withUnsafeBytes { Array($0) }
    }

    @Test(arguments: [0, 1, 15, 16, 17, 255, 1_500, 70_000])
    func `a value of any size opens with and without a schedule`(count: Int) throws {
        let text = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        for (sealing, opening) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
            let box = try Self.seal(text, with: Self.engines[sealing])
            #expect(try Self.open(box, with: Self.engines[opening]) == text)
        }
    }

    @Test(arguments: [0, 1])
    func `what is altered, cut or of another context does not open`(engine: Int) throws {
        let cipher = Self.engines[engine]
        let box = try Self.seal(Array("token".utf8), with: cipher)
        for bit in 0..<box.count * 8 {
            var altered = box
            altered[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: CryptoKitError.self) { try Self.open(altered, with: cipher) }
        }
        for count in 0..<box.count {
            #expect(throws: (any Error).self) { try Self.open(Array(box.prefix(count)), with: cipher) }
        }
        #expect(throws: CryptoKitError.self) { try Self.open(box, Array("refresh_token secret".utf8), with: cipher) }
    }

    @Test func `each value has its own nonce`() throws {
        for cipher in Self.engines {
            let nonces = try (0..<200).map { _ in
                try Self.seal(Array("token".utf8), with: cipher).prefix(SealedFormat.nonceCount)
            }
            #expect(Set(nonces).count == 200)
        }
    }

    @Test func `many threads seal and open with one key at once`() async throws {
        let cipher = Self.engines[0]
        try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<16 {
                group.addTask {
                    let text = [UInt8](repeating: UInt8(number), count: 500 + number)
                    return try (0..<200).allSatisfy { _ in
                        try Self.open(Self.seal(text, with: cipher), with: cipher) == text
                    }
                }
            }
            for try await isRight in group { #expect(isRight) }
        }
    }
}
