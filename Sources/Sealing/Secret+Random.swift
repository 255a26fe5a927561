import Crypto
import OAuth

extension Secret {
    /// Bytes from the kernel's randomness.
    static func random(count: Int) -> Secret {
        SymmetricKey(size: .init(bitCount: count * 8)).withUnsafeBytes { Secret(copying: $0) }
    }
}
