public import NativeAuthentication
import OAuth

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A sign-in to begin.
public final class MSALNativeAuthSignInParameters {
    /// The name that the user signs in with.
    public let username: String

    /// The password; nil: the issuer asks for what it wants.
    public var password: String?

    /// What the access token must be good for; nil: OpenID Connect alone.
    public var scopes: [String]?

    /// The `claims` parameter.
    public var claimsRequest: MSALClaimsRequest?

    /// What the requests are marked with; nil: a new id.
    public var correlationId: UUID?

    /// Parameters with nothing else set.
    public init(username: String) { self.username = username }

    var parameters: SignInParameters {
        var parameters = SignInParameters(
            username: username,
            password: password.map { Secret($0) },
            scope: Scope(scopes ?? [])
        )
        parameters.claims = claimsRequest?.claims
        parameters.correlationID = correlationId
        return parameters
    }
}

/// A sign-up to begin.
public final class MSALNativeAuthSignUpParameters {
    /// The name that the user signs in with.
    public let username: String

    /// The password; nil: the issuer asks for what it wants.
    public var password: String?

    /// What the tenant wants to know of the user, by name.
    public var attributes: [String: Any]?

    /// What the requests are marked with; nil: a new id.
    public var correlationId: UUID?

    /// Parameters with nothing else set.
    public init(username: String) { self.username = username }

    var parameters: SignUpParameters {
        var parameters = SignUpParameters(
            username: username,
            password: password.map { Secret($0) },
            attributes: attributes.map { JSONValue.Object(attributes: $0) }
        )
        parameters.correlationID = correlationId
        return parameters
    }
}

extension MSALNativeAuthSignInParameters: CustomReflectable {
    /// The name alone: a dump is not to show the password.
    public var customMirror: Mirror { Mirror(self, children: ["username": username]) }
}

extension MSALNativeAuthSignUpParameters: CustomReflectable {
    /// The name alone: a dump is not to show the password.
    public var customMirror: Mirror { Mirror(self, children: ["username": username]) }
}

/// A password reset to begin.
public final class MSALNativeAuthResetPasswordParameters {
    /// The name that the user signs in with.
    public let username: String

    /// What the requests are marked with; nil: a new id.
    public var correlationId: UUID?

    /// Parameters with nothing else set.
    public init(username: String) {
        self.username = username
    }
}

/// An access token that is wanted.
public final class MSALNativeAuthGetAccessTokenParameters {
    /// Whether the issuer is asked although a token is stored.
    public var forceRefresh = false

    /// Whether the result has the refresh token too.
    public var returnRefreshToken = false

    /// What the access token must be good for; nil: OpenID Connect alone.
    public var scopes: [String]?

    /// The `claims` parameter.
    public var claimsRequest: MSALClaimsRequest?

    /// Without effect: the token comes from the store, or from a refresh that several calls may share.
    public var correlationId: UUID?

    /// Parameters with nothing else set.
    public init() {}
}

/// The sign-in after a sign-up.
public final class MSALNativeAuthSignInAfterSignUpParameters {
    /// What the access token must be good for; nil: OpenID Connect alone.
    public var scopes: [String]?

    /// The `claims` parameter.
    public var claimsRequest: MSALClaimsRequest?

    /// Parameters with nothing else set.
    public init() {}
}

/// The sign-in after a reset.
public final class MSALNativeAuthSignInAfterResetPasswordParameters {
    /// What the access token must be good for; nil: OpenID Connect alone.
    public var scopes: [String]?

    /// The `claims` parameter.
    public var claimsRequest: MSALClaimsRequest?

    /// Parameters with nothing else set.
    public init() {}
}

/// A contact that is to become a person's method.
public final class MSALNativeAuthChallengeAuthMethodParameters {
    /// How the code is sent.
    public let authMethod: MSALAuthMethod

    /// Where the code is sent, such as an e-mail address.
    public let verificationContact: String

    /// Parameters with nothing else set.
    public init(authMethod: MSALAuthMethod, verificationContact: String) {
        self.authMethod = authMethod
        self.verificationContact = verificationContact
    }
}

extension JSONValue.Object {
    /// Attributes as MSAL takes them; a value that JSON does not know becomes an invalid number, and is refused as
    /// such.
    init(attributes: [String: Any]) {
        self.init(attributes.sorted { $0.key < $1.key }.map { (name: $0.key, value: JSONValue(attribute: $0.value)) })
    }

    /// The members as MSAL gives claims: texts, numbers, truth values, lists and dictionaries.
    var dictionary: [String: Any] { Dictionary(members.map { ($0.name, $0.value.any) }) { $1 } }
}

extension JSONValue {
    fileprivate init(attribute: Any) {
        self =
            switch attribute {
            case let text as String: .string(text)
            case let truth as Bool: .bool(truth)
            case let number as any BinaryInteger: .number("\(number)")
            case let number as Double: .number("\(number)")
            case let list as [Any]: .array(list.map { JSONValue(attribute: $0) })
            case let members as [String: Any]: .object(Object(attributes: members))
            default: .number("no JSON")
            }
    }

    fileprivate var any: Any {
        switch self {
        case .null: Any?.none as Any
        case .bool(let truth): truth
        case .number(let text): Int(text) as Any? ?? Double(text) as Any? ?? text
        case .string(let text): text
        case .array(let elements): elements.map(\.any)
        case .object(let object): object.dictionary
        }
    }
}
