import OAuth
import Sealing
import TestTraits
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.onWaitingThreads)
struct KeyEncryptionKeyTests {
    private let key = KeyEncryptionKey(bytes: Secret("0123456789abcdef0123456789abcdef"))
    private let other = KeyEncryptionKey(bytes: Secret("0123456789abcdef0123456789abcdeF"))
    private let store = [UInt8](repeating: 9, count: 16)

    @Test func `a wrapped data key opens what the original sealed`() throws {
        let original = DataKey(id: 3)
        let place = SealedLocation(table: "t", column: "c", row: 1)
        let sealed = try Sealer(key: original).seal(Secret("token"), as: place)
        let unwrapped = try key.unwrap(key.wrap(original, storeID: store), id: 3, storeID: store)
        #expect(try Sealer(key: unwrapped).open(sealed, as: place) == Secret("token"))
    }

    @Test func `the error of another key names both`() throws {
        let wrapped = try key.wrap(DataKey(id: 3), storeID: store)
        #expect(throws: SealingError.otherKey(wanted: key.id, found: other.id)) {
            try other.unwrap(wrapped, id: 3, storeID: store)
        }
        #expect(key.id != other.id)
        #expect(key.id.count == 16)
    }

    @Test func `a data key of another store or with another id does not open`() throws {
        let wrapped = try key.wrap(DataKey(id: 3), storeID: store)
        #expect(throws: SealingError.damagedDataKey(3)) {
            try key.unwrap(wrapped, id: 3, storeID: [UInt8](repeating: 8, count: 16))
        }
        #expect(throws: SealingError.damagedDataKey(4)) { try key.unwrap(wrapped, id: 4, storeID: store) }
    }

    @Test func `every altered bit and missing byte is detected`() throws {
        let wrapped = try key.wrap(DataKey(id: 3), storeID: store)
        for bit in 0..<wrapped.count * 8 {
            var altered = wrapped
            altered[bit / 8] ^= 1 << (bit % 8)
            #expect(throws: SealingError.self) { try key.unwrap(altered, id: 3, storeID: store) }
        }
        for count in 0..<wrapped.count {
            #expect(throws: SealingError.damagedDataKey(3)) {
                try key.unwrap(Array(wrapped.prefix(count)), id: 3, storeID: store)
            }
        }
    }

    #if os(Linux)
    /// Kilobytes that this process has locked in memory.
    private func lockedMemory() throws -> Int {
        let status = try String(contentsOf: URL(filePath: "/proc/self/status"), encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmLck:") })
        return line.split { !$0.isNumber }.first.flatMap { Int($0) } ?? 0
    }

    @Test func `the page of a key is locked in memory where the limit allows`() throws {
        var page: UnsafeMutableRawPointer?
        try #require(posix_memalign(&page, 4096, 4096) == 0)
        // A sanitizer makes `mlock` succeed without an effect.
        let mayLock = try mlock(try #require(page), 4096) == 0 && lockedMemory() > 0
        munlock(try #require(page), 4096)
        free(page)
        let key = KeyEncryptionKey(bytes: Secret(String(repeating: "k", count: 32)))
        let locked = try lockedMemory()
        #expect(locked > 0 || !mayLock, "\(key)")
    }
    #endif
}
