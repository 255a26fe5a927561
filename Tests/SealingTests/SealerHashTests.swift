import Crypto
import OAuth
import Testing

@testable import Sealing

struct SealerHashTests {
    private let bytes = Secret("0123456789abcdef0123456789abcdef")

    @Test func `the same key gives the same hashes, another key others`() {
        let hashes = [Sealer(key: DataKey(id: 1, bytes: bytes)), Sealer(key: DataKey(id: 2, bytes: bytes))].map {
            [$0.claimNameHash("dept"), $0.claimValueHash(name: "dept", value: "x"), $0.fingerprint(Secret("t"))]
        }
        #expect(hashes[0] == hashes[1])
        #expect(hashes[0].map(\.count) == [8, 16, 8])
        #expect(Sealer(key: DataKey(id: 1)).claimNameHash("dept") != hashes[0][0])
    }

    @Test func `a name has the same hash after many other hashes`() {
        let sealer = Sealer(key: DataKey(id: 1))
        let names = (0..<600).map { "claim\($0)" }
        let hashes = names.map(sealer.claimNameHash)
        #expect(names.map(sealer.claimNameHash) == hashes)
        #expect(Set(hashes).count == names.count)
    }

    @Test func `a name has its own hash, whichever spelling of its letters was hashed before`() {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        let key = DataKey(id: 1, bytes: bytes)
        let (one, other) = (Sealer(key: key), Sealer(key: key))
        let hash = one.claimNameHash(composed)
        #expect(one.claimNameHash(decomposed) == other.claimNameHash(decomposed))
        #expect(one.claimNameHash(decomposed) != hash)
        #expect(one.knownClaimNameHashes.count == 2)
    }

    @Test func `the hash separates the name from the value`() {
        let sealer = Sealer(key: DataKey(id: 1))
        #expect(sealer.claimValueHash(name: "ab", value: "c") != sealer.claimValueHash(name: "a", value: "bc"))
        #expect(sealer.claimValueHash(name: "a", value: "b") != sealer.claimValueHash(name: "b", value: "a"))
    }

    @Test func `each purpose has its own hashes`() {
        let sealer = Sealer(key: DataKey(id: 1))
        let text = Secret("x")
        let others = text.withUnsafeBytes { bytes in
            ["", "x"].map { sealer.fingerprint(of: bytes, label: $0) }
        }
        #expect(others[0].count == 16)
        let hashes = [sealer.claimNameHash("x"), sealer.fingerprint(text)] + others.map { Array($0.prefix(8)) }
        #expect(Set(hashes).count == hashes.count)
    }

    /// [RFC 4231 §4](https://www.rfc-editor.org/rfc/rfc4231#section-4), test cases 1 and 2.
    @Test(arguments: [
        ([UInt8](repeating: 0x0b, count: 20), "Hi There", "b0344c61d8db38535ca8afceaf0bf12b"),
        (Array("Jefe".utf8), "what do ya want for nothing?", "5bdcc146bf60754e6a042426089575c7"),
    ])
    func `both engines hash as the standard says`(key: [UInt8], text: String, code: String) {
        for hash in [KeyedHash(SymmetricKey(data: key)), KeyedHash.indirect(SymmetricKey(data: key))] {
            let made = Array(text.utf8).withUnsafeBytes { hash.code(of: $0, count: 16) }
            #expect(made.map { String(UInt16(0x100) + UInt16($0), radix: 16).dropFirst() }.joined() == code)
        }
    }

    @Test(arguments: [0, 1, 55, 56, 63, 64, 65, 119, 120, 1_500])
    func `both engines hash a value of any size alike`(count: Int) {
        let key = SymmetricKey(data: [UInt8](0..<32))
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0) }
        let codes = [KeyedHash(key), KeyedHash.indirect(key)].map { hash in
            [8, 16, 32].map { size in bytes.withUnsafeBytes { hash.code(of: $0, count: size) } }
        }
        #expect(codes[0] == codes[1])
        #expect(codes[0].map(\.count) == [8, 16, 32])
    }
}
