/// Values of a row as bytes, such that no two lists of values give the same: each has its type in front, and texts and
/// blobs their length.
///
/// The memory is kept for the next row, as a list is made for every value that is sealed or opened.
package final class CanonicalValues {
    private var start = UnsafeMutableRawPointer.allocate(byteCount: 1024, alignment: 8)
    private var capacity = 1024
    private var count = 0

    package init() {}

    deinit { start.deallocate() }

    /// The bytes up to now, valid until the list is changed.
    package var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    package func removeAll() { count = 0 }

    package func append(_ value: Value) {
        switch value {
        case .integer(let number): append(number)
        case .text(var text): text.withUTF8 { append(UnsafeRawBufferPointer($0), as: .text) }
        case .blob(let bytes): bytes.withUnsafeBytes { append($0, as: .blob) }
        case .null: appendNull()
        }
    }

    package func append(_ number: Int64) {
        append(tag: .integer, room: 8)
        write(number)
    }

    /// Adds the bytes of a text or of a blob.
    package func append(_ bytes: UnsafeRawBufferPointer, as type: ValueKind) {
        append(tag: type, room: 8 + bytes.count)
        write(Int64(bytes.count))
        guard let first = bytes.baseAddress else { return }
        (start + count).copyMemory(from: first, byteCount: bytes.count)
        count += bytes.count
    }

    package func appendNull() { append(tag: .null, room: 0) }

    /// Adds a value of a kind that no program of this package writes: nothing was ever sealed with it, so nothing opens.
    package func appendForeign() { append(byte: 6, room: 0) }

    @inline(__always)
    private func append(tag: ValueKind, room: Int) { append(byte: tag.rawValue, room: room) }

    @inline(__always)
    private func append(byte: UInt8, room: Int) {
        if capacity - count <= room { grow(by: room) }
        start.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
        count += 1
    }

    /// There is room for it.
    @inline(__always)
    private func write(_ number: Int64) {
        start.storeBytes(of: number.bigEndian, toByteOffset: count, as: Int64.self)
        count += 8
    }

    private func grow(by room: Int) {
        capacity = 2 * (capacity + room)
        let larger = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 8)
        larger.copyMemory(from: start, byteCount: count)
        start.deallocate()
        start = larger
    }
}
