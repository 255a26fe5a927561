import OAuth
import OpenIDConnect
import SignIn
import TokenManagement

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Why a request for an access token failed.
public typealias RetrieveAccessTokenError = NativeAuthError<RetrieveAccessTokenErrorKind>

/// The kinds of ``RetrieveAccessTokenError``.
public struct RetrieveAccessTokenErrorKind: NativeAuthErrorKind {
    /// The name by which it is compared and printed.
    public let rawValue: String

    /// One of this name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// No account is signed in.
    public static let noAccount = RetrieveAccessTokenErrorKind(rawValue: "noAccount")
    /// The session has ended.
    public static let refreshTokenExpired = RetrieveAccessTokenErrorKind(rawValue: "refreshTokenExpired")
    /// The scope is reserved, or not one that the issuer grants.
    public static let invalidScope = RetrieveAccessTokenErrorKind(rawValue: "invalidScope")
    /// The issuer granted less than what was asked for, which is stored.
    public static let declinedScopes = RetrieveAccessTokenErrorKind(rawValue: "declinedScopes")

    /// Those of this version; a later one may have more.
    public static let known = [
        noAccount, refreshTokenExpired, invalidScope, declinedScopes, browserRequired, generalError,
    ]

    /// What the user or the program can do.
    public var advice: String {
        switch self {
        case .noAccount: "sign in"
        case .refreshTokenExpired: "sign in again"
        case .invalidScope: "correct the scope"
        case .declinedScopes: "ask for less, or sign in again to consent"
        case .browserRequired: "go on in a browser"
        default: "try again later"
        }
    }
}

extension NativeAuthError<RetrieveAccessTokenErrorKind> {
    /// Whether nobody is signed in.
    public var isNoAccount: Bool { kind == .noAccount }

    /// Whether the session has ended, and the user has to sign in.
    public var isRefreshTokenExpired: Bool { kind == .refreshTokenExpired }

    /// Whether the issuer knows no such scope.
    public var isInvalidScope: Bool { kind == .invalidScope }

    /// Whether the issuer granted less than was asked for.
    public var isScopeDeclined: Bool { kind == .declinedScopes }
}

extension NativeAuthError<RetrieveAccessTokenErrorKind> {
    /// What the token manager, or the store, threw.
    init(
        _ error: any Error,
        _ account: Account,
        _ scope: Scope,
        _ claims: JSONValue?,
        _ application: NativeAuthPublicClientApplication,
        _ correlationID: UUID
    ) {
        let kind = (error as? AcquisitionError).map(RetrieveAccessTokenErrorKind.init) ?? .generalError
        let refusal = (error as? AcquisitionError)?.refusal
        var request: InteractiveRequest?
        if kind == .browserRequired {
            var browser = InteractiveRequest(scope: scope)
            browser.authority = application.configuration.authority
            browser.account = account
            browser.claims = (error as? AcquisitionError)?.neededClaims ?? claims
            request = browser
        }
        let known = error as? any CodedError
        self.init(
            kind,
            known?.problem ?? "\(error)",
            correlationID,
            remedy: known?.remedy,
            refusal: refusal,
            underlying: error,
            browserRequest: request
        )
    }
}

extension RetrieveAccessTokenErrorKind {
    fileprivate init(_ error: AcquisitionError) {
        self =
            switch (error.code, error.interaction) {
            case (_, .signedOut?), (_, .noAccount?): .noAccount
            case (_, .refused?): error.refusal.map(Self.init(refused:)) ?? .refreshTokenExpired
            case (_, .noRefreshToken?), (_, .ended?), (_, .refusedWithoutReason?), (_, .accountDeleted?),
                (_, .sessionTooOld?):
                .refreshTokenExpired
            case (.possiblyConsumed, _): .refreshTokenExpired
            case (.invalidScope, _): .invalidScope
            case (.declinedScopes, _): .declinedScopes
            default: .generalError
            }
    }

    private init(refused refusal: OAuthError) {
        if refusal.needsPage || refusal.needsSecondFactor {
            self = .browserRequired
        } else if [.invalidGrant, .expiredRefreshToken].contains(refusal.code) {
            self = .refreshTokenExpired
        } else {
            self = .generalError
        }
    }
}
