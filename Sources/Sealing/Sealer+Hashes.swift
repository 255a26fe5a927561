import Crypto
package import OAuth

extension Sealer {
    /// 8 bytes that stand for a claim's name in the blind index.
    package func claimNameHash(_ name: String) -> [UInt8] {
        hash(with: keys.claimName, count: 8) { $0.update(text: name) }
    }

    /// 16 bytes that stand for a claim's name and value in the blind index.
    package func claimValueHash(name: String, value: String) -> [UInt8] {
        hash(with: keys.claimValue, count: 16) {
            $0.update(number: UInt32(name.utf8.count))
            $0.update(text: name)
            $0.update(text: value)
        }
    }

    /// 8 bytes by which the record of use names a refresh token.
    package func fingerprint(_ secret: Secret) -> [UInt8] {
        hash(with: keys.refreshToken, count: 8) { code in secret.withUnsafeBytes { code.update(data: $0) } }
    }

    /// 16 bytes that stand for `bytes`; other labels give unrelated ones.
    package func fingerprint(of bytes: UnsafeRawBufferPointer, label: String) -> [UInt8] {
        hash(with: keys.fingerprint, count: 16) {
            $0.update(number: UInt32(label.utf8.count))
            $0.update(text: label)
            $0.update(data: bytes)
        }
    }

    private func hash(with key: HMAC<SHA256>, count: Int, _ update: (inout HMAC<SHA256>) -> Void) -> [UInt8] {
        var code = key
        update(&code)
        return code.finalize().withUnsafeBytes { [UInt8]($0.prefix(count)) }
    }
}

extension HMAC<SHA256> {
    fileprivate mutating func update(number: UInt32) {
        withUnsafeBytes(of: number.bigEndian) { update(data: $0) }
    }

    fileprivate mutating func update(text: String) {
        var text = text
        text.withUTF8 { update(data: UnsafeRawBufferPointer($0)) }
    }
}
