package import Foundation
import OAuth
import OpenIDConnect
import SignIn
import TokenManagement
import TokenStorage

/// What an app can do something about, with MSAL's numbers; those of brokers and device management do not occur.
public enum MSALError: Int, Sendable {
    /// The error is for the log; `userInfo[MSALInternalErrorCodeKey]` has the reason.
    case `internal` = -50_000

    /// The user has to sign in: call `acquireToken(with:completionBlock:)` with the same parameters.
    case interactionRequired = -50_002

    /// The issuer granted less than was asked for.
    case serverDeclinedScopes = -50_003

    /// A policy of the organisation must be met first.
    case serverProtectionPoliciesRequired = -50_004

    /// The user cancelled.
    case userCanceled = -50_005

    /// The issuer answered with `server_error`; as with MSAL, the reason of an ``MSALError/internal``.
    case serverError = -50_006

    /// A changed password is required before tokens are issued.
    case serverInvalidRequestResetPasswordRequired = -50_142
}

/// The reasons of an ``MSALError/internal``, with MSAL's numbers.
public enum MSALInternalError: Int, Sendable {
    /// An argument makes no sense.
    case invalidParameter = -42_000

    /// The issuer answered with `invalid_request`.
    case invalidRequest = -42_002

    /// The issuer answered with `invalid_client`.
    case invalidClient = -42_003

    /// The issuer answered with `invalid_grant`.
    case invalidGrant = -42_004

    /// The issuer answered with `invalid_scope`.
    case invalidScope = -42_005

    /// The issuer answered with `unauthorized_client`.
    case unauthorizedClient = -42_006

    /// The issuer cannot serve, or its answer is not one of OAuth.
    case unhandledResponse = -42_007

    /// The network, the browser or the store failed; `NSUnderlyingErrorKey` has the error.
    case unexpected = -42_008

    /// The authority is not known to the application, or its metadata cannot be used.
    case failedAuthorityValidation = -42_010

    /// The redirect URI is invalid.
    case invalidRedirectURI = -42_011

    /// Another account signed in than the one asked for.
    case mismatchedUser = -42_101

    /// Several accounts fit.
    case ambiguousAccount = -42_102

    /// The issuer refused the sign-in; the other keys have its words.
    case authorizationFailed = -42_104

    /// A silent request was made without an account.
    case accountRequired = -42_106

    /// The sign-in ended without an answer: its time was up.
    case sessionCanceled = -42_401

    /// Another sign-in is under way.
    case interactiveSessionAlreadyRunning = -42_402

    /// The answer belongs to another sign-in.
    case invalidState = -42_501

    /// The answer is not in order.
    case invalidResponse = -42_600
}

/// What MSAL says of an error of this package.
private struct MSALVerdict {
    let code: MSALError

    /// The number of the reason of an ``MSALError/internal``.
    let reason: Int?

    /// What MSAL's own converter hands on as the reason of an internal error, although it has a code for it.
    static let serverError = MSALVerdict(code: .internal, reason: MSALError.serverError.rawValue)

    private init(code: MSALError, reason: Int?) { (self.code, self.reason) = (code, reason) }

    init(_ code: MSALError) { self.init(code: code, reason: nil) }

    init(_ reason: MSALInternalError) { self.init(code: .internal, reason: reason.rawValue) }

    init(_ error: any Error) {
        self =
            switch error {
            case is CancellationError: Self(.userCanceled)
            case let error as SignInError: Self(signIn: error)
            case let error as AcquisitionError: Self(acquisition: error)
            case let error as TokenStoreError: Self(store: error)
            case is AuthorityError: Self(.invalidParameter)
            default: Self(.unexpected)
            }
    }

    private init(signIn error: SignInError) {
        self =
            switch error.code {
            case .cancelled: Self(.userCanceled)
            case .declinedScopes: Self(.serverDeclinedScopes)
            case .refused: error.refusal.map(Self.init(refusal:)) ?? Self(.authorizationFailed)
            case .invalidRequest: Self(.invalidParameter)
            case .invalidRedirectURI: Self(.invalidRedirectURI)
            case .unknownAuthority, .metadata: Self(.failedAuthorityValidation)
            case .timedOut: Self(.sessionCanceled)
            case .alreadyRunning: Self(.interactiveSessionAlreadyRunning)
            case .forgotPassword: Self(.authorizationFailed)
            case .stateMismatch, .openedTwice: Self(.invalidState)
            case .otherIssuer, .invalidAnswer, .noIDToken, .invalidIDToken: Self(.invalidResponse)
            case .accountMismatch: Self(.mismatchedUser)
            case .unavailable, .unusableAnswer, .noDeviceEndpoint, .invalidDeviceAuthorization, .dpop,
                .pushedRequests:
                Self(.unhandledResponse)
            default: Self(.unexpected)
            }
    }

    private init(acquisition error: AcquisitionError) {
        self =
            switch error.code {
            case .policyRequired: Self(.serverProtectionPoliciesRequired)
            case _ where error.needsInteraction: Self(.interactionRequired)
            case .declinedScopes: Self(.serverDeclinedScopes)
            case .clientMisconfigured, .invalidScope:
                error.refusal.map(Self.init(refusal:)) ?? Self(.authorizationFailed)
            case .accountMismatch: Self(.mismatchedUser)
            case .invalidIDToken: Self(.invalidResponse)
            case .metadata: Self(.failedAuthorityValidation)
            case .unavailable, .unusableAnswer, .noAccessToken, .tooShort, .otherTokenType, .dpop:
                Self(.unhandledResponse)
            default: Self(.unexpected)
            }
    }

    private init(store error: TokenStoreError) {
        self =
            switch error.code {
            case .ambiguousAccount: Self(.ambiguousAccount)
            case .invalidArgument, .userFlowMismatch: Self(.invalidParameter)
            case .otherAccount: Self(.mismatchedUser)
            default: Self(.unexpected)
            }
    }

    private init(refusal error: OAuthError) {
        guard !error.needsNewPassword else {
            self.init(.serverInvalidRequestResetPasswordRequired)
            return
        }
        self =
            switch error.code {
            case .invalidRequest: Self(.invalidRequest)
            case .invalidClient: Self(.invalidClient)
            case .invalidGrant: Self(.invalidGrant)
            case .invalidScope: Self(.invalidScope)
            case .unauthorizedClient: Self(.unauthorizedClient)
            case .serverError: .serverError
            default: Self(.authorizationFailed)
            }
    }
}

extension NSError {
    /// `error` as apps that were written for MSAL compare it: by domain and code.
    ///
    /// The error itself is its `NSUnderlyingErrorKey`.
    package static func msal(_ error: any Error) -> NSError {
        let verdict = MSALVerdict(error)
        var facts: [String: Any] = [NSUnderlyingErrorKey: error]
        facts[NSLocalizedDescriptionKey] = "\(error)"
        facts[MSALErrorDescriptionKey] = "\(error)"
        facts[MSALInternalErrorCodeKey] = verdict.reason
        if let refusal = refusal(behind: error) {
            facts[MSALOAuthErrorKey] = refusal.code.rawValue
            facts[MSALOAuthSubErrorKey] = refusal.suberror
            if let said = refusal.serverDescription { facts[MSALErrorDescriptionKey] = said }
            facts[MSALSTSErrorCodesKey] = refusal.numbers
            facts[MSALHTTPResponseCodeKey] = "\(refusal.status)"
        }
        switch error {
        case let error as SignInError: facts[MSALDeclinedScopesKey] = error.declinedScope?.tokens
        case let error as AcquisitionError where error.code == .declinedScopes:
            facts[MSALDeclinedScopesKey] = error.result?.declinedScope.tokens
            facts[MSALGrantedScopesKey] = error.result?.accessToken.scope.tokens
        case let error as AcquisitionError where error.code == .unavailable:
            facts[MSALThrottlingCacheHitKey] = error.isThrottled
        default: break
        }
        return NSError(domain: MSALErrorDomain, code: verdict.code.rawValue, userInfo: facts)
    }

    /// An error that no other is behind; `sentence` ends in what to do.
    static func msal(_ reason: MSALInternalError, _ sentence: String) -> NSError {
        let facts: [String: Any] = [
            NSLocalizedDescriptionKey: sentence, MSALErrorDescriptionKey: sentence,
            MSALInternalErrorCodeKey: reason.rawValue,
        ]
        return NSError(domain: MSALErrorDomain, code: MSALError.internal.rawValue, userInfo: facts)
    }

    /// The issuer's refusal, where one is behind the error.
    private static func refusal(behind error: any Error) -> OAuthError? {
        switch error {
        case let error as SignInError where error.code != .dpop: error.refusal
        case let error as AcquisitionError where error.code != .dpop: error.refusal
        default: nil
        }
    }
}
