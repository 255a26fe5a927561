import OAuth
import Sealing
import Testing

struct SealerTests {
    private let sealer = Sealer(key: DataKey(id: 7))
    private let place = SealedLocation(table: "access_token", column: "secret", owner: 2, row: 5)

    @Test(arguments: ["", "a", "eyJhbGciOi.J9", String(repeating: "token ", count: 250)])
    func `a value opens where it was sealed`(text: String) throws {
        let sealed = try sealer.seal(Secret(text), as: place)
        #expect(try sealer.open(sealed, as: place) == Secret(text))
        #expect(sealed.count == text.utf8.count + 33)
        #expect(sealed.withUnsafeBytes { Sealer.keyID(of: $0) } == 7)
    }

    @Test(arguments: [
        SealedLocation(table: "refresh_token", column: "secret", owner: 2, row: 5),
        SealedLocation(table: "access_token", column: "claims", owner: 2, row: 5),
        SealedLocation(table: "access_token", column: "secret", owner: 3, row: 5),
        SealedLocation(table: "access_token", column: "secret", owner: 2, row: 6),
        SealedLocation(table: "access_token", column: "secret", owner: 5, row: 2),
        SealedLocation(table: "access_tokens", column: "ecret", owner: 2, row: 5),
    ])
    func `a value moved elsewhere does not open`(elsewhere: SealedLocation) throws {
        let sealed = try sealer.seal(Secret("token"), as: place)
        #expect(
            throws: SealingError.damagedValue(table: elsewhere.table, column: elsewhere.column, row: elsewhere.row)
        ) {
            try sealer.open(sealed, as: elsewhere)
        }
    }

    @Test func `every altered bit is detected`() throws {
        let sealed = try sealer.seal(Secret("token"), as: place)
        for bit in 0..<sealed.count * 8 {
            var altered = sealed
            altered[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: SealingError.self) { try sealer.open(altered, as: place) }
        }
    }

    @Test func `a value cut short is damaged`() throws {
        let sealed = try sealer.seal(Secret("token"), as: place)
        for count in 0..<sealed.count {
            #expect(throws: SealingError.damagedValue(table: "access_token", column: "secret", row: 5)) {
                try sealer.open(Array(sealed.prefix(count)), as: place)
            }
        }
    }

    @Test func `another data key is named, and other bytes under the same id do not open`() throws {
        let sealed = try sealer.seal(Secret("token"), as: place)
        #expect(throws: SealingError.unknownDataKey(7)) {
            try Sealer(key: DataKey(id: 8)).open(sealed, as: place)
        }
        #expect(throws: SealingError.damagedValue(table: "access_token", column: "secret", row: 5)) {
            try Sealer(key: DataKey(id: 7)).open(sealed, as: place)
        }
    }

    @Test func `a value of an unknown version has its own error`() throws {
        var sealed = try sealer.seal(Secret("token"), as: place)
        sealed[0] = 3
        #expect(throws: SealingError.unknownFormat(version: 3)) { try sealer.open(sealed, as: place) }
        #expect(sealed.withUnsafeBytes { Sealer.keyID(of: $0) } == nil)
        #expect([UInt8](repeating: 1, count: 32).withUnsafeBytes { Sealer.keyID(of: $0) } == nil)
    }

    @Test func `the same value is sealed differently each time`() throws {
        let values = try (0..<50).map { _ in try sealer.seal(Secret("token"), as: place) }
        #expect(Set(values).count == 50)
    }

    @Test func `no description of a key shows it`() {
        let bytes = Secret("abcdefghijklmnopqrstuvwxyz012345")
        let subjects: [Any] = [
            DataKey(id: 1, bytes: bytes), Sealer(key: DataKey(id: 1, bytes: bytes)), KeyEncryptionKey(bytes: bytes),
        ]
        for subject in subjects {
            var dumped = ""
            dump(subject, to: &dumped)
            for text in ["\(subject)", String(reflecting: subject), dumped] {
                #expect(!text.contains("abc"))
                #expect(!text.contains("61, 62"))
                #expect(!text.contains("97"))
                #expect(text.count < 60)
            }
        }
    }
}
