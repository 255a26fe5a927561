import OAuth
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
public enum RetrieveAccessTokenErrorKind: String, NativeAuthErrorKind {
    /// No account is signed in.
    case noAccount
    /// The session has ended.
    case refreshTokenExpired
    /// The scope is reserved, or not one that the issuer grants.
    case invalidScope
    /// The issuer granted less than what was asked for, which is stored.
    case declinedScopes
    case browserRequired
    case generalError

    public var advice: String {
        switch self {
        case .noAccount: "sign in"
        case .refreshTokenExpired: "sign in again"
        case .invalidScope: "correct the scope"
        case .declinedScopes: "ask for less, or sign in again to consent"
        case .browserRequired: "go on in a browser"
        case .generalError: "try again later"
        }
    }
}

extension NativeAuthError<RetrieveAccessTokenErrorKind> {
    public var isNoAccount: Bool { kind == .noAccount }
    public var isRefreshTokenExpired: Bool { kind == .refreshTokenExpired }
    public var isInvalidScope: Bool { kind == .invalidScope }
    public var isScopeDeclined: Bool { kind == .declinedScopes }
}

extension NativeAuthError<RetrieveAccessTokenErrorKind> {
    /// What the token manager, or the store, threw.
    init(
        _ error: any Error,
        _ account: Account,
        _ scope: Scope,
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
            request = browser
        }
        self.init(kind, "\(error)", correlationID, refusal: refusal, underlying: error, browserRequest: request)
    }
}

extension RetrieveAccessTokenErrorKind {
    fileprivate init(_ error: AcquisitionError) {
        self =
            switch error {
            case .interactionRequired(.signedOut): .noAccount
            case .interactionRequired(.noRefreshToken), .interactionRequired(.ended): .refreshTokenExpired
            case .interactionRequired(.refused(let refusal, _)): Self(refused: refusal)
            case .interactionRequired(.refusedWithoutReason), .interactionRequired(.accountDeleted),
                .interactionRequired(.sessionTooOld):
                .refreshTokenExpired
            case .possiblyConsumed: .refreshTokenExpired
            case .invalidScope: .invalidScope
            case .declinedScopes: .declinedScopes
            default: .generalError
            }
    }

    private init(refused refusal: OAuthError) {
        let isForAPerson =
            refusal.numbers.contains(50_076) || refusal.code == .interactionRequired
            || refusal.suberror == "consent_required"
        if isForAPerson {
            self = .browserRequired
        } else if [.invalidGrant, .expiredRefreshToken].contains(refusal.code) {
            self = .refreshTokenExpired
        } else {
            self = .generalError
        }
    }
}

extension AcquisitionError {
    /// The issuer's refusal, where one is behind it.
    fileprivate var refusal: OAuthError? {
        switch self {
        case .interactionRequired(.refused(let error, _)), .interactionRequired(.passwordReset(let error)),
            .clientMisconfigured(let error), .invalidScope(let error), .policyRequired(let error):
            error
        case .possiblyConsumed(let error, _, _, _): error
        default: nil
        }
    }
}
