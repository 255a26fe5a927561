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
    package var hexadecimal: String {
        var text = ""
        for byte in self {
            if byte < 16 { text.append("0") }
            text.append(String(byte, radix: 16))
        }
        return text
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
