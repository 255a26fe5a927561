import Crypto
import OAuth

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

extension [UInt8] {
    mutating func append(bigEndian number: some FixedWidthInteger) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

extension Sequence<UInt8> {
    /// Two lower-case digits for each byte.
    package var hexadecimal: String {
        let bytes = Array(self)
        return String(unsafeUninitializedCapacity: 2 * bytes.count) { text in
            func digit(_ value: UInt8) -> UInt8 { value + (value < 10 ? UInt8(ascii: "0") : UInt8(ascii: "a") - 10) }
            for (index, byte) in bytes.enumerated() {
                text.initializeElement(at: 2 * index, to: digit(byte >> 4))
                text.initializeElement(at: 2 * index + 1, to: digit(byte & 15))
            }
            return 2 * bytes.count
        }
    }
}

/// Keeps the page that holds a key from being written to a swap file, as far as the system allows.
///
/// The page stays locked: others of its bytes may be a key by then.
func lockInMemory(_ bytes: UnsafeRawBufferPointer) {
    guard let start = bytes.baseAddress else { return }
    // A refusal, such as for a limit of zero, leaves the key as safe as the rest of the process.
    _ = mlock(start, bytes.count)
}

extension Secret {
    /// Copies `data` and overwrites it, provided nothing else shares its memory.
    init(moving data: inout Data) {
        self = data.withUnsafeMutableBytes { bytes in
            defer { wipe(bytes) }
            return Secret(copying: UnsafeRawBufferPointer(bytes))
        }
    }
}

extension Secret {
    /// Bytes from the kernel's randomness.
    static func random(count: Int) -> Secret {
        SymmetricKey(size: .init(bitCount: count * 8)).withUnsafeBytes { Secret(copying: $0) }
    }
}
