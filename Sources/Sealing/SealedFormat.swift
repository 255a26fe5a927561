import Crypto

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// What a sealed value is bound to; its layout is always: format, data key id, nonce, ciphertext, tag.
///
/// A data key knows its format from how it is wrapped, so that a value of an older one cannot be put in the place of a
/// newer one.
package enum SealedFormat: UInt8, Sendable {
    /// To its place alone.
    case placed = 1

    /// To its place, and to the clear columns of its row.
    case bound = 2

    static let headerCount = 5
    static let nonceCount = 12
    static let tagCount = 16
    static let overhead = headerCount + nonceCount + tagCount

    static func keyID(of sealed: UnsafeRawBufferPointer) -> UInt32? {
        guard sealed.count >= overhead, SealedFormat(rawValue: sealed[0]) != nil else { return nil }
        return UInt32(bigEndian: sealed.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
    }

    func writeHeader(keyID: UInt32, to bytes: UnsafeMutableRawBufferPointer) {
        bytes[0] = rawValue
        bytes.storeBytes(of: keyID.bigEndian, toByteOffset: 1, as: UInt32.self)
    }

    /// A random nonce.
    static func nonce() throws -> AES.GCM.Nonce {
        #if canImport(Darwin)
        return AES.GCM.Nonce()
        #else
        // One call of the kernel, where swift-crypto makes two: a sixth of the cost of sealing a value.
        return try withUnsafeTemporaryAllocation(byteCount: nonceCount, alignment: 1) { bytes in
            guard getentropy(bytes.baseAddress, bytes.count) == 0 else { return AES.GCM.Nonce() }
            return try AES.GCM.Nonce(data: UnsafeRawBufferPointer(bytes))
        }
        #endif
    }
}
