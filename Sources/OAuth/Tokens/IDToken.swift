#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An ID token, decoded but not validated: it came from the store or over TLS from the issuer.
public struct IDToken: Equatable, Sendable {
    /// The compact JWT as issued.
    public let secret: Secret

    /// What the token says of the user.
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

    /// The claims in the payload, decoded from base64url.
    package static func object(_ payload: [UInt8]) throws(IDTokenError) -> JSONValue.Object {
        let parsed = payload.withUnsafeBytes { bytes in
            Result { () throws(JSONError) in try JSONValue(parsing: bytes) }
        }
        if case .success(.object(let object)) = parsed { return object }
        // A name that was cut in the middle of a character does not keep a person out. What says who the person is, and
        // for which client the token is, has to be whole.
        let mended = payload.withUnsafeBytes { bytes in
            Result { () throws(JSONError) in try JSONValue(mending: bytes) }
        }
        guard case .success(.object(let object)) = mended,
            !deciding.contains(where: { object[$0]?.serialized.unicodeScalars.contains("\u{FFFD}") ?? false })
        else { throw .notAnObject }
        return object
    }

    private static let deciding = ["iss", "sub", "aud", "azp", "oid", "tid", "nonce", "tfp", "acr"]
}

/// Why a text is not an ID token.
public struct IDTokenError: CodedError, Hashable {
    /// Which problem it is; a new version may add codes.
    public struct Code: ErrorCode {
        /// The name by which it is compared and printed.
        public let rawValue: String

        /// One of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// It is not three parts separated by dots.
        public static let notCompact = Code(rawValue: "not_compact")
        /// The payload is not base64url.
        public static let notBase64URL = Code(rawValue: "not_base64_url")
        /// The payload is not a JSON object.
        public static let notAnObject = Code(rawValue: "not_an_object")

        /// Those of this version; a later one may have more.
        public static let known = [
            notCompact, notBase64URL, notAnObject,
        ]
    }

    /// The domain of the error as an `NSError`.
    public static var domain: String { "OAuth.IDTokenError" }

    /// What went wrong, for programs.
    public let code: Code

    /// What went wrong, in one sentence without advice.
    public let problem: String

    /// What may help; nil if nothing is known.
    public let remedy: Remedy?

    /// Makes an error; `problem` is one sentence without advice, and is shortened where it has over 1,200 characters.
    public init(_ code: Code, _ problem: String, _ remedy: Remedy? = nil) {
        self.code = code
        self.problem = problem.boundedSentence
        self.remedy = remedy
    }
}

extension IDTokenError {
    package static let notCompact = IDTokenError(.notCompact, "the ID token is not three parts separated by dots")
    package static let notBase64URL = IDTokenError(.notBase64URL, "the payload of the ID token is not base64url")
    package static let notAnObject = IDTokenError(.notAnObject, "the payload of the ID token is not a JSON object")
}

/// The claims of an ID token, as issued ([OpenID Connect Core
/// §2](https://openid.net/specs/openid-connect-core-1_0.html#IDToken)).
public struct Claims: Hashable, Sendable {
    /// The payload without loss.
    public let payload: JSONValue.Object

    /// The claims of a payload, which is not checked.
    public init(_ payload: JSONValue.Object) { self.payload = payload }

    /// `iss`: who issued the token.
    public var issuer: String? { payload["iss"]?.text }

    /// `sub`: the user, as this issuer names the user to this client.
    public var subject: String? { payload["sub"]?.text }

    /// What tells the user from all others of the issuer; nil if nothing does.
    ///
    /// Azure AD B2C can be set to give every user the same `sub`; `oid` tells them apart then.
    package var userID: String? {
        guard let subject, !subject.hasSameBytes(as: "Not supported currently. Use oid claim.") else { return objectID }
        return subject
    }

    /// `oid`: the user's object in a Microsoft tenant.
    public var objectID: String? { payload["oid"]?.text }

    /// `tid`: the Microsoft tenant.
    public var tenantID: String? { payload["tid"]?.text }

    /// `name`: the name to show.
    public var name: String? { text("name") }

    /// `iat`: when the token was issued.
    public var issuedAt: Date? { payload["iat"]?.seconds.map { Date(unixSeconds: $0) } }

    /// `aud`: whom the token is for, the client among them.
    public var audiences: [String] { payload["aud"].map(\.texts) ?? [] }

    /// The user flow of Azure AD B2C: `tfp`, or an `acr` that names one.
    public var userFlow: String? {
        if let policy = text("tfp") { return policy }
        guard let reference = text("acr"), reference.lowercased().utf8.starts(with: "b2c_".utf8) else { return nil }
        return reference
    }

    /// The user flow, folded; nil where its name could not stand in an address.
    package var addressableUserFlow: String? {
        guard let userFlow, userFlow.utf8.allSatisfy(Self.isOfAName) else { return nil }
        return userFlow.folded
    }

    static func isOfAName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// The name to show: `preferred_username`, `upn`, `email`, the first of `emails`, `name`, else nil.
    public var username: String? {
        text("preferred_username") ?? text("upn") ?? text("email")
            ?? payload["emails"]?.texts.first { !$0.isEmpty } ?? name
    }

    /// The id of the user in the tenant: `oid`, else `sub`.
    public var localAccountID: String? { text("oid") ?? text("sub") }

    /// The value at a name, or at names separated by dots that reach into objects; a whole name wins over a path.
    ///
    /// A path through a list leads to the list of what its elements have there.
    public subscript(path path: String) -> JSONValue? { payload.value(at: path) }

    private func text(_ name: String) -> String? {
        payload[name]?.text.flatMap { $0.isEmpty ? nil : $0 }
    }
}

extension JSONValue {
    /// The texts of a list; a single text counts as a list of one, as in `aud`.
    fileprivate var texts: [String] {
        switch self {
        case .string(let text): [text]
        case .array(let elements): elements.compactMap(\.text)
        default: []
        }
    }
}

extension JSONValue.Object {
    fileprivate func value(at path: String) -> JSONValue? {
        if let value = self[path] { return value }
        for dot in path.indices where path[dot] == "." {
            let rest = String(path[path.index(after: dot)...])
            if let value = self[String(path[..<dot])]?.value(at: rest) { return value }
        }
        return nil
    }
}

extension JSONValue {
    fileprivate func value(at path: String) -> JSONValue? {
        guard let array else { return object?.value(at: path) }
        let values = array.compactMap { $0.value(at: path) }
        return values.isEmpty ? nil : .array(values)
    }
}
