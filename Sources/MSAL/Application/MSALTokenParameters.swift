public import Foundation
import OAuth
import SignIn
import TokenManagement

/// What every request has.
public class MSALParameters {
    /// Parameters that say nothing.
    public init() {}
}

/// What is asked for.
public class MSALTokenParameters: MSALParameters {
    /// What the access token must be good for.
    public var scopes: [String]

    /// The account that the token is for.
    public var account: MSALAccount?

    /// Where the token comes from; nil: the application's own authority, or for a silent request the account's, if the
    /// application's is for every tenant or another user flow.
    public var authority: MSALAuthority?

    /// The name to fill in on the sign-in page; an account's own name goes before it.
    public var loginHint: String?

    /// The `claims` parameter; with one, a silent request asks the issuer.
    public var claimsRequest: MSALClaimsRequest?

    /// Parameters of the sign-in page that the issuer knows and OAuth does not; a silent request has none.
    public var extraQueryParameters: [String: String]?

    /// Returned as ``MSALResult/correlationId``.
    public var correlationId: UUID?

    /// Asks for a token for some scopes.
    public init(scopes: [String]) { self.scopes = scopes }
}

/// A sign-in that the user takes part in.
public final class MSALInteractiveTokenParameters: MSALTokenParameters {
    /// How the page is shown.
    public let webviewParameters: MSALWebviewParameters

    /// What the issuer asks the user although it may know who they are.
    public var promptType = MSALPromptType.promptIfNecessary

    /// The domain whose sign-in page is wanted.
    public var domainHint: String?

    /// Scopes of other APIs to consent to at once; no access token comes for them.
    public var extraScopesToConsent: [String]?

    /// Asks for a token for some scopes by a page.
    public init(scopes: [String], webviewParameters: MSALWebviewParameters) {
        self.webviewParameters = webviewParameters
        super.init(scopes: scopes)
    }

    var request: InteractiveRequest {
        var request = InteractiveRequest(scope: Scope(scopes))
        request.authority = authority?.authority
        request.prompt = promptType.prompt
        request.loginHint = loginHint
        request.account = account?.account
        request.extraScopesToConsent = Scope(extraScopesToConsent ?? [])
        request.domainHint = domainHint
        request.claims = claimsRequest?.claims
        request.extraParameters = extraQueryParameters ?? [:]
        // MSAL reports what the issuer did not grant as an error, with the result in the store.
        request.requiresAllScopes = true
        return request
    }
}

/// A request for a token that never asks the user.
public final class MSALSilentTokenParameters: MSALTokenParameters {
    /// Whether the issuer is asked although a token is stored.
    public var forceRefresh = false

    /// Asks for a token of an account.
    public init(scopes: [String], account: MSALAccount) {
        super.init(scopes: scopes)
        self.account = account
    }

    /// - Throws: `NSError` with ``MSALInternalError/accountRequired`` if ``MSALTokenParameters/account`` was set to
    ///   nil.
    func request() throws -> SilentRequest {
        guard let account else { throw NSError.msal(.accountRequired, "no account was given; give one, or sign in") }
        var request = SilentRequest(account: account.account.id, scope: Scope(scopes))
        request.authority = authority?.authority
        request.claims = claimsRequest?.claims
        request.forcesRefresh = forceRefresh
        request.loginHint = loginHint
        request.requiresAllScopes = true
        return request
    }
}

/// What the issuer asks the user although it may know who they are.
public enum MSALPromptType: UInt, Sendable {
    /// Which of the accounts that the browser knows.
    case selectAccount

    /// The password, or what stands for it.
    case login

    /// Whether the app may.
    case consent

    /// A new account.
    case create

    /// Only what is necessary.
    case promptIfNecessary

    /// Only what is necessary.
    public static let `default` = MSALPromptType.promptIfNecessary

    fileprivate var prompt: Prompt? {
        switch self {
        case .selectAccount: .selectAccount
        case .login: .login
        case .consent: .consent
        case .create: .create
        case .promptIfNecessary: nil
        }
    }
}

/// Claims that are asked for ([OpenID Connect Core
/// §5.5](https://openid.net/specs/openid-connect-core-1_0.html#ClaimsParameter)).
public final class MSALClaimsRequest: Sendable {
    let claims: JSONValue

    /// Reads the JSON object of a `claims` parameter, such as an API's challenge has it.
    ///
    /// - Throws: `NSError` of ``MSALErrorDomain`` with ``MSALInternalError/invalidParameter``.
    public init(jsonString: String) throws {
        do throws(JSONError) {
            claims = try JSONValue(parsing: jsonString)
        } catch {
            throw NSError.msal(.invalidParameter, error.description)
        }
        // A request that names what the client can do would leave out anything else, and nobody would know.
        guard claims.object != nil else {
            throw NSError.msal(.invalidParameter, "the claims are \(claims.kind); give a JSON object")
        }
    }

    /// The JSON that is sent.
    public func jsonString() -> String? { claims.serialized }
}

/// How a user is signed out.
public final class MSALSignoutParameters: MSALParameters {
    /// How a page is shown.
    public let webviewParameters: MSALWebviewParameters

    /// A sign-out.
    public init(webviewParameters: MSALWebviewParameters) { self.webviewParameters = webviewParameters }
}

/// Which accounts are meant.
public final class MSALAccountEnumerationParameters: MSALParameters {
    /// The home account id.
    public let identifier: String?

    /// The id of the user in a tenant, compared without regard to case.
    public let tenantProfileIdentifier: String?

    /// The username, compared without regard to case.
    public let username: String?

    /// Whether accounts that have signed out are left out.
    public var returnOnlySignedInAccounts = true

    /// Every account.
    public convenience override init() { self.init(nil, nil, nil) }

    /// The account with a home account id.
    public convenience init(identifier: String) { self.init(identifier, nil, nil) }

    /// The accounts with a username.
    public convenience init(identifier: String?, username: String) { self.init(identifier, nil, username) }

    /// The account with an id in one of its tenants.
    public convenience init(tenantProfileIdentifier: String) { self.init(nil, tenantProfileIdentifier, nil) }

    private init(_ identifier: String?, _ tenantProfileIdentifier: String?, _ username: String?) {
        (self.identifier, self.tenantProfileIdentifier) = (identifier, tenantProfileIdentifier)
        self.username = username
        super.init()
    }

    /// What it says now, for a thread of the store.
    var criteria: AccountCriteria {
        AccountCriteria(
            identifier: identifier,
            tenantProfileIdentifier: tenantProfileIdentifier,
            username: username,
            isSignedIn: returnOnlySignedInAccounts
        )
    }
}

/// Which accounts of a client fit ``MSALAccountEnumerationParameters``.
struct AccountCriteria: Sendable {
    let identifier: String?
    let tenantProfileIdentifier: String?
    let username: String?
    let isSignedIn: Bool

    /// Whether a name is empty, which none is: an account without a username is not meant by it.
    var hasBlankName: Bool { [identifier, tenantProfileIdentifier, username].contains { $0?.folded.isEmpty ?? false } }

    /// Whether an account that fits has the home account id letter by letter, where one was given.
    func isSpelled(_ account: Account) -> Bool {
        identifier.map { account.id.homeAccountID.hasSameBytes(as: $0) } ?? true
    }

    func fits(_ account: Account) -> Bool {
        let isNamed = identifier.map { account.id.homeAccountID.folded == $0.folded } ?? true
        let isCalled = username.map { account.username.folded == $0.folded } ?? true
        let isKnown = tenantProfileIdentifier.map { id in
            account.tenantProfiles.contains { $0.localAccountID?.folded == id.folded }
        }
        return isNamed && isCalled && isKnown ?? true
    }
}
