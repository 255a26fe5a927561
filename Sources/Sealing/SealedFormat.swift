import Crypto

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// The layout of a sealed value: version, data key id, nonce, ciphertext, tag.
enum SealedFormat {
    static let version: UInt8 = 1
    static let headerCount = 5
    static let nonceCount = 12
    static let tagCount = 16
    static let overhead = headerCount + nonceCount + tagCount

    static func keyID(of sealed: UnsafeRawBufferPointer) -> UInt32? {
        guard sealed.count >= overhead, sealed[0] == version else { return nil }
        return UInt32(bigEndian: sealed.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
    }

    static func writeHeader(keyID: UInt32, to bytes: UnsafeMutableRawBufferPointer) {
        bytes[0] = version
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
