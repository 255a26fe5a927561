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
