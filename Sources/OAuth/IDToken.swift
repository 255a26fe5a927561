/// An ID token, decoded but not validated: it came from the store or over TLS from the issuer.
public struct IDToken: Equatable, Sendable {
    /// The compact JWT as issued.
    public let secret: Secret

    public let claims: Claims

    /// Decodes the payload of a compact JWT.
    ///
    /// - Throws: ``IDTokenError`` if it is not three parts, or the payload is not a JSON object in base64url.
    public init(decoding secret: Secret) throws(IDTokenError) {
        self.secret = secret
        claims = Claims(
            try secret.withUnsafeBytes { bytes throws(IDTokenError) in
                let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                guard parts.count == 3 else { throw .notCompact }
                guard let payload = Base64URL.decode(parts[1]) else { throw .notBase64URL }
                return try Self.object(payload)
            }
        )
    }

    private static func object(_ payload: [UInt8]) throws(IDTokenError) -> JSON.Object {
        let parsed = payload.withUnsafeBytes { bytes in
            Result { () throws(JSONError) in try JSON(parsing: bytes) }
        }
        guard case .success(.object(let object)) = parsed else { throw .notAnObject }
        return object
    }
}

/// Why a text is not an ID token.
public enum IDTokenError: Error, Hashable, CustomStringConvertible {
    case notCompact
    case notBase64URL
    case notAnObject

    public var description: String {
        switch self {
        case .notCompact: "the ID token is not three parts separated by dots"
        case .notBase64URL: "the payload of the ID token is not base64url"
        case .notAnObject: "the payload of the ID token is not a JSON object"
        }
    }
}
