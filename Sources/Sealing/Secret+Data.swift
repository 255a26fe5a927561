import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Secret {
    /// Copies `data` and overwrites it, provided nothing else shares its memory.
    init(moving data: inout Data) {
        self = data.withUnsafeMutableBytes { bytes in
            defer { wipe(bytes) }
            return Secret(copying: UnsafeRawBufferPointer(bytes))
        }
    }
}
