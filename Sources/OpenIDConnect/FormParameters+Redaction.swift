package import OAuth

extension FormParameters {
    /// What has more bytes than this is in no name by chance.
    private static let longestChance = 15

    /// `error` without the secrets of this form, which some servers repeat in what they say about them.
    package func redacting(_ error: OAuthError) -> OAuthError {
        var error = error
        if isEcho(error.code.rawValue) { error.code = .unknown }
        error.suberror = error.suberror.flatMap { isEcho($0) ? nil : $0 }
        error.serverDescription = error.serverDescription.map { redacting($0) }
        error.claims = error.claims.map { redacting($0) }
        return error
    }

    /// `text` without the secrets of this form, as they are or percent-encoded.
    package func redacting(_ text: String) -> String { secrets.reduce(text) { $1.redacted(from: $0) } }

    /// Whether a name that an issuer sent has a secret in it.
    ///
    /// A short one may be in a plain word by chance: the password `password` leaves `password_too_weak` as it is.
    private func isEcho(_ name: String) -> Bool {
        let isPlain = name.utf8.allSatisfy {
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0) || $0 == UInt8(ascii: "_")
        }
        return secrets.contains { secret in
            let mayBeChance = isPlain && secret.count <= Self.longestChance && secret.count < name.utf8.count
            return !mayBeChance && secret.redacted(from: name) != name
        }
    }
}

extension Secret {
    /// `text` with a word in the place of the secret.
    ///
    /// Bytes are compared, since to characters an accent behind the secret would make another text of it.
    fileprivate func redacted(from text: String) -> String {
        withUnsafeBytes { secret in
            var (rest, result) = (Array(text.utf8)[...], [UInt8]())
            while let first = rest.first {
                if let count = rest.encodedLength(of: secret) ?? (rest.starts(with: secret) ? secret.count : nil) {
                    result += Array(description.utf8)
                    rest = rest.dropFirst(count)
                } else {
                    result.append(first)
                    rest = rest.dropFirst()
                }
            }
            return String(decoding: result, as: UTF8.self)
        }
    }
}

extension ArraySlice<UInt8> {
    /// How many bytes `secret` takes at the beginning, if it is there as a form may have it: with any bytes
    /// percent-encoded, in digits of either case.
    fileprivate func encodedLength(of secret: UnsafeRawBufferPointer) -> Int? {
        var rest = self
        for wanted in secret {
            guard let byte = rest.popFirst() else { return nil }
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexadecimal, let low = rest.popFirst()?.hexadecimal,
                    high << 4 | low == wanted
                else { return nil }
            case UInt8(ascii: "+"): guard wanted == UInt8(ascii: " ") || wanted == byte else { return nil }
            default: guard byte == wanted else { return nil }
            }
        }
        return count - rest.count
    }
}
