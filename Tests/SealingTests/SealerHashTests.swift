import OAuth
import Sealing
import Testing

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
}
