#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Bytes that must not reach a log, such as a token or a key.
///
/// Nothing that prints, dumps, mirrors or encodes shows them, `==` takes the same time wherever two secrets of one
/// length differ, and the memory is overwritten when the last copy goes.
public struct Secret: Sendable {
    private let bytes: WipedBytes

    /// Copies the UTF-8 bytes of `text`.
    public init(_ text: String) {
        var text = text
        bytes = text.withUTF8 { WipedBytes(copying: UnsafeRawBufferPointer($0)) }
    }

    /// Copies `buffer`, which stays the caller's to wipe.
    public init(copying buffer: UnsafeRawBufferPointer) {
        bytes = WipedBytes(copying: buffer)
    }

    /// Has `body` write the bytes, all of them.
    package init<Failure: Error>(
        byteCount: Int,
        _ body: (UnsafeMutableRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        bytes = WipedBytes(byteCount: byteCount)
        try body(bytes.buffer)
    }

    /// The number of bytes.
    public var count: Int { bytes.buffer.count }

    /// The bytes as text; invalid UTF-8 is replaced.
    ///
    /// Each call is a place to review: the returned text is ordinary memory.
    public func reveal() -> String {
        String(decoding: bytes.buffer, as: UTF8.self)
    }

    /// Whether a token may be made of these bytes: printable ASCII, at least one
    /// ([RFC 6749 §A.12, §A.17](https://www.rfc-editor.org/rfc/rfc6749#appendix-A.12)).
    ///
    /// A terminal would obey others, and a header of a request would end at them.
    package var isTokenText: Bool {
        count > 0 && UnsafeRawBufferPointer(bytes.buffer).arePrintableASCII
    }

    /// Whether a token that an import or an earlier version has stored may be used and shown: besides what RFC 6749
    /// allows, letters and marks of any script, which no terminal and no header obeys.
    package var isShowable: Bool {
        if isTokenText { return true }
        guard count > 0, let text = String(validating: bytes.buffer, as: UTF8.self) else { return false }
        var isShowable = true
        text.forEachScalar { scalar, isObeyed in
            if isObeyed || scalar != " " && scalar.properties.isWhitespace { isShowable = false }
        }
        return isShowable
    }

    /// The bytes, valid during `body`.
    public func withUnsafeBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(UnsafeRawBufferPointer(bytes.buffer))
    }
}

extension Secret: Equatable {
    public static func == (lhs: Secret, rhs: Secret) -> Bool {
        guard lhs.count == rhs.count else { return false }
        var difference: UInt8 = 0
        for index in 0..<lhs.count { difference |= lhs.bytes.buffer[index] ^ rhs.bytes.buffer[index] }
        return difference == 0
    }
}

extension Secret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String { "<redacted>" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// Memory that is overwritten before it is given back.
///
/// `@unchecked Sendable`: the bytes are written in `init` and only read until `deinit`.
private final class WipedBytes: @unchecked Sendable, CustomReflectable {
    let buffer: UnsafeMutableRawBufferPointer

    init(byteCount: Int) { buffer = .allocate(byteCount: byteCount, alignment: 1) }

    convenience init(copying source: UnsafeRawBufferPointer) {
        self.init(byteCount: source.count)
        buffer.copyMemory(from: source)
    }

    var customMirror: Mirror { Mirror(self, children: []) }

    deinit {
        wipe(buffer)
        buffer.deallocate()
    }
}

/// Overwrites `buffer` with zeros in a way the optimizer may not leave out.
package func wipe(_ buffer: UnsafeMutableRawBufferPointer) {
    guard let start = buffer.baseAddress else { return }
    #if canImport(Darwin)
    memset_s(start, buffer.count, 0, buffer.count)
    #else
    explicit_bzero(start, buffer.count)
    #endif
}

extension UnsafeRawBufferPointer {
    /// Words at a time, as each lookup of a token asks this, in a loop that the compiler turns into vectors.
    fileprivate var arePrintableASCII: Bool {
        guard let start = baseAddress else { return true }
        // The top bits of a byte: set where it is above a tilde or no ASCII; not set where it is below a space. What
        // runs over into the next byte comes from one that is not ASCII.
        var above: UInt64 = 0
        var notBelow = UInt64.max
        let words = count / 8
        for index in 0..<words {
            let word = start.loadUnaligned(fromByteOffset: index &* 8, as: UInt64.self)
            above |= word | (word &+ 0x0101_0101_0101_0101)
            notBelow &= word &+ 0x6060_6060_6060_6060
        }
        return (above | ~notBelow) & 0x8080_8080_8080_8080 == 0
            && self[(words * 8)...].allSatisfy { (0x20...0x7E).contains($0) }
    }
}
