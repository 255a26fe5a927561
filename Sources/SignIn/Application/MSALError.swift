import OAuth
import OpenIDConnect
public import TokenManagement
public import TokenStorage

/// An error as apps written for MSAL compare it: by domain and code.
public struct MSALError: Hashable, Sendable {
    public static let domain = "MSALErrorDomain"

    public let code: Int

    /// The detailed code of ``internalError`` (`MSALInternalErrorCodeKey`).
    public let internalCode: Int?

    public var domain: String { Self.domain }

    init(_ code: Int, internalCode: Int? = nil) {
        self.code = code
        self.internalCode = internalCode
    }

    /// An error with the reason in its internal code.
    public static let internalError = -50_000

    /// Someone has to sign in.
    public static let interactionRequired = -50_002

    /// The issuer granted less than was asked for.
    public static let serverDeclinedScopes = -50_003

    /// A policy of the organisation must be met first.
    public static let serverProtectionPoliciesRequired = -50_004

    /// The person cancelled.
    public static let userCancelled = -50_005

    /// What MSAL says of an error of this package; nil for one that MSAL does not know.
    public init?(_ error: any Error) {
        guard let error = error as? any MSALComparable else { return nil }
        self = error.msalError
    }
}

/// An error that has a counterpart in MSAL.
public protocol MSALComparable: Error {
    var msalError: MSALError { get }
}

extension SignInError: MSALComparable {
    public var msalError: MSALError {
        switch self {
        case .cancelled: MSALError(MSALError.userCancelled)
        case .declinedScopes: MSALError(MSALError.serverDeclinedScopes)
        case .refused(let error): MSALError(refused: error)
        case .invalidRequest: MSALError(MSALError.internalError, internalCode: -42_000)
        case .invalidRedirectURI: MSALError(MSALError.internalError, internalCode: -42_011)
        case .unknownAuthority, .metadata: MSALError(MSALError.internalError, internalCode: -42_010)
        case .timedOut: MSALError(MSALError.internalError, internalCode: -42_401)
        case .alreadyRunning: MSALError(MSALError.internalError, internalCode: -42_402)
        case .forgotPassword: MSALError(MSALError.internalError, internalCode: -42_104)
        case .stateMismatch, .openedTwice: MSALError(MSALError.internalError, internalCode: -42_501)
        case .otherIssuer, .invalidAnswer, .noIDToken, .invalidIDToken:
            MSALError(MSALError.internalError, internalCode: -42_600)
        case .accountMismatch: MSALError(MSALError.internalError, internalCode: -42_101)
        case .noBrowser, .noListener, .network: MSALError(MSALError.internalError, internalCode: -42_008)
        case .unavailable, .unusableAnswer, .noDeviceEndpoint, .invalidDeviceAuthorization:
            MSALError(MSALError.internalError, internalCode: -42_007)
        }
    }
}

extension AcquisitionError: MSALComparable {
    public var msalError: MSALError {
        switch self {
        case .interactionRequired, .possiblyConsumed: MSALError(MSALError.interactionRequired)
        case .policyRequired: MSALError(MSALError.serverProtectionPoliciesRequired)
        case .declinedScopes: MSALError(MSALError.serverDeclinedScopes)
        case .clientMisconfigured(let error), .invalidScope(let error): MSALError(refused: error)
        case .accountMismatch: MSALError(MSALError.internalError, internalCode: -42_101)
        case .invalidIDToken: MSALError(MSALError.internalError, internalCode: -42_600)
        case .metadata: MSALError(MSALError.internalError, internalCode: -42_010)
        case .unavailable, .unusableAnswer, .tooShort: MSALError(MSALError.internalError, internalCode: -42_007)
        case .network, .timedOut: MSALError(MSALError.internalError, internalCode: -42_008)
        }
    }
}

extension TokenStoreError: MSALComparable {
    public var msalError: MSALError {
        switch self {
        case .ambiguousAccount: MSALError(MSALError.internalError, internalCode: -42_102)
        case .invalidArgument, .userFlowMismatch: MSALError(MSALError.internalError, internalCode: -42_000)
        case .otherAccount: MSALError(MSALError.internalError, internalCode: -42_101)
        default: MSALError(MSALError.internalError)
        }
    }
}

extension MSALError {
    /// What MSAL makes of an issuer's refusal.
    fileprivate init(refused error: OAuthError) {
        let internalCode: Int? =
            switch error.code {
            case .invalidRequest: -42_002
            case .invalidClient: -42_003
            case .invalidGrant: -42_004
            case .invalidScope: -42_005
            case .unauthorizedClient: -42_006
            default: -42_104
            }
        if error.numbers.contains(50_142) {
            self.init(-50_142)
        } else {
            self.init(MSALError.internalError, internalCode: internalCode)
        }
    }
}
