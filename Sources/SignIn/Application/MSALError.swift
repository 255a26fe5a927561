/// An error as apps written for MSAL compare it: by domain and code.
public struct MSALError: Hashable, Sendable {
    public static let domain = "MSALErrorDomain"

    public let code: Int

    /// What stands behind ``internalError`` (`MSALInternalErrorCodeKey`).
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

    /// The organisation's policy has to be met first.
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
