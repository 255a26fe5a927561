import Crypto
package import OAuth

extension Sealer {
    /// 8 bytes that stand for a claim's name in the blind index.
    package func claimNameHash(_ name: String) -> [UInt8] {
        keys.hashes.hash(ofName: name) { key in
            var name = name
            return name.withUTF8 { hash(with: key, count: 8, UnsafeRawBufferPointer($0)) }
        }
    }

    /// 16 bytes that stand for a claim's name and value in the blind index.
    package func claimValueHash(name: String, value: String) -> [UInt8] {
        // In one piece: each update of a hash costs more than the bytes of a claim.
        var bytes: [UInt8] = []
        bytes.reserveCapacity(4 + name.utf8.count + value.utf8.count)
        bytes.append(bigEndian: UInt32(name.utf8.count))
        bytes.append(contentsOf: name.utf8)
        bytes.append(contentsOf: value.utf8)
        return bytes.withUnsafeBytes { hash(with: keys.hashes.claimValue, count: 16, $0) }
    }

    /// 8 bytes by which the record of use names a refresh token.
    package func fingerprint(_ secret: Secret) -> [UInt8] {
        secret.withUnsafeBytes { hash(with: keys.hashes.refreshToken, count: 8, $0) }
    }

    /// 16 bytes that stand for `bytes`; other labels give unrelated ones.
    package func fingerprint(of bytes: UnsafeRawBufferPointer, label: String) -> [UInt8] {
        var labelled: [UInt8] = []
        labelled.append(bigEndian: UInt32(label.utf8.count))
        labelled.append(contentsOf: label.utf8)
        labelled.append(contentsOf: bytes)
        return labelled.withUnsafeBytes { hash(with: keys.hashes.fingerprint, count: 16, $0) }
    }

    private func hash(with key: HMAC<SHA256>, count: Int, _ bytes: UnsafeRawBufferPointer) -> [UInt8] {
        var code = key
        code.update(data: bytes)
        return code.finalize().withUnsafeBytes { [UInt8]($0.prefix(count)) }
    }
}
