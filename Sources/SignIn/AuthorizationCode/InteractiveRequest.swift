public import OAuth
public import TokenManagement

/// A sign-in that a person takes part in.
public struct InteractiveRequest: Hashable, Sendable {
    /// The scopes that the access token must have; those for an ID token and a refresh token are added.
    public var scope: Scope

    /// Whether `profile` and `offline_access` are asked for besides, where the issuer lists them or lists no scopes.
    ///
    /// Some issuers refuse a request for a scope that the client is not registered for. Without `offline_access` many
    /// give no refresh token.
    public var addsScopes = true

    /// Where the person signs in; nil: the application's own authority.
    public var authority: Authority?

    /// nil: the issuer asks what it has to.
    public var prompt: Prompt?

    /// The name to fill in; an account's own name goes before it.
    public var loginHint: String?

    /// The account that has to sign in; tokens of another are refused.
    public var account: Account?

    /// Scopes of other APIs to consent to at once; no access token comes for them.
    public var extraScopesToConsent: Scope = Scope([])

    /// The domain whose sign-in page is wanted.
    public var domainHint: String?

    /// The `claims` parameter ([OpenID Connect Core
    /// §5.5](https://openid.net/specs/openid-connect-core-1_0.html#ClaimsParameter)).
    public var claims: JSONValue?

    /// Parameters that the issuer knows and OAuth does not, such as `audience` or `ui_locales`.
    ///
    /// The code is redeemed with `resource` as well, and refreshes sent ([RFC
    /// 8707](https://www.rfc-editor.org/rfc/rfc8707)).
    public var extraParameters: [String: String] = [:]

    /// How the issuer is to hand over its answer.
    public var responseMode = ResponseMode.query

    /// How long the person may take.
    public var timeLimit: Duration = .seconds(300)

    /// Whether a token for fewer scopes than asked for is an error.
    public var requiresAllScopes = false

    /// A request for this scope; the scopes of OpenID Connect are added to it.
    public init(scope: Scope = Scope([])) { self.scope = scope }

    /// The sign-in that a silent request calls for which ended in `error`, such as
    /// `AcquisitionError.Code.interactionRequired`.
    ///
    /// The claims are those that the issuer asks for in the error, else those of the request; without them a new
    /// sign-in may end in the same error.
    public init(after request: SilentRequest, error: AcquisitionError? = nil, account: Account) {
        scope = request.scope
        authority = request.authority
        claims = error?.neededClaims ?? request.claims
        loginHint = request.loginHint
        requiresAllScopes = request.requiresAllScopes
        self.account = account
    }
}

/// What the issuer asks the person although it may know who they are
/// ([OpenID Connect Core §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest)).
public enum Prompt: String, Sendable, CaseIterable {
    case selectAccount = "select_account"
    case login
    case consent

    /// Begins with a new account ([Initiating User Registration
    /// §4.1](https://openid.net/specs/openid-connect-prompt-create-1_0.html)).
    case create
}

/// How the issuer returns the answer through the browser.
public enum ResponseMode: String, Sendable, CaseIterable {
    /// In the address ([RFC 6749 §4.1.2](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2)).
    case query

    /// In a form that the browser posts, so that the code is in no address
    /// ([Form Post Response Mode](https://openid.net/specs/oauth-v2-form-post-response-mode-1_0.html)).
    case formPost = "form_post"
}
