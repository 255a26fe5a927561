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

    static func header(keyID: UInt32) -> [UInt8] {
        var header = [version]
        header.append(bigEndian: keyID)
        return header
    }
}
