import OAuth
import Sealing
import Testing

/// Values computed with another implementation (Python's `hmac` and `cryptography`); stored ones never change meaning.
struct StoredFormatTests {
    private let bytes = Secret("0123456789abcdef0123456789abcdef")

    @Test func `the hashes of a known key are those of the format`() {
        let sealer = Sealer(key: DataKey(id: 1, bytes: bytes))
        #expect(hex(sealer.claimNameHash("department")) == "b0866bf59b23991e")
        #expect(hex(sealer.claimValueHash(name: "department", value: "finance")) == "fcce45b68456fcefb235ed984acc5846")
        #expect(hex(sealer.fingerprint(Secret("refresh"))) == "95ea98de2c35a8e6")
        let fingerprint = Secret("refresh").withUnsafeBytes { sealer.fingerprint(of: $0, label: "id") }
        #expect(hex(fingerprint) == "2ead518effa6c9ddb3f87a5153932517")
        #expect(KeyEncryptionKey(bytes: bytes).id == "6a3269214c70fe51")
    }

    @Test func `a value sealed by version 1 opens`() throws {
        let sealed = bytes(
            "0100000007000102030405060708090a0b6eef909cb7a1f42121402202d084fedfc70e116573"
        )
        let place = SealedLocation(table: "access_token", column: "secret", owner: 2, row: 5)
        #expect(
            try Sealer(key: DataKey(id: 7, format: .placed, bytes: bytes)).open(sealed, as: place) == Secret("token")
        )
    }

    @Test func `a data key wrapped by version 1 unwraps`() throws {
        let wrapped = bytes(
            """
            01000000036a3269214c70fe51000102030405060708090a0b2ab92eba30acf2b257dc3f403ef8066b4d01d02df95b7f9e62f8cf5b\
            ebe151ff17638e9cabb84a08c032dcd71c5d3cfb
            """
        )
        let store = [UInt8](repeating: 9, count: 16)
        let key = try KeyEncryptionKey(bytes: bytes).unwrap(wrapped, id: 3, storeID: store)
        let expected = Sealer(key: DataKey(id: 3, bytes: bytes))
        #expect(Sealer(key: key).claimNameHash("x") == expected.claimNameHash("x"))
    }

    private func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    private func bytes(_ hex: String) -> [UInt8] {
        let digits = hex.compactMap(\.hexDigitValue).map(UInt8.init)
        return stride(from: 0, to: digits.count, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    }
}
