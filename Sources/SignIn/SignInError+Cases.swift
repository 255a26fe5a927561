import HTTPTransport
package import OAuth
package import OpenIDConnect
import TokenStorage

extension Remedy {
    static let startAgain = Remedy.signIn("start again")
}

extension SignInError {
    package static func invalidRequest(
        _ problem: String,
        _ remedy: Remedy = .correct("correct the request")
    ) -> SignInError {
        SignInError(.invalidRequest, problem, remedy)
    }

    /// The text that was to be an authority is none.
    package static func invalidRequest(_ error: AuthorityError) -> SignInError {
        SignInError(.invalidRequest, error.problem, error.remedy)
    }

    /// Refuses a scope that no store takes before anything is asked for it.
    package static func requireText(_ scope: Scope) throws(SignInError) {
        guard scope.hasControlCharacters else { return }
        throw .invalidRequest("the scope has a control character", .correct("correct the scope"))
    }

    package static func invalidRedirectURI(_ problem: String) -> SignInError {
        let advice = "use http://127.0.0.1/ or one such as msauth.com.example.app://auth"
        return SignInError(.invalidRedirectURI, problem, .correct(advice))
    }

    package static func unknownAuthority(_ url: String) -> SignInError {
        SignInError(
            .unknownAuthority,
            "the authority \(url) is not among those known to the application",
            .correct("add it to the known authorities")
        )
    }

    package static let cancelled = SignInError(
        .cancelled,
        "the sign-in was cancelled",
        .signIn("nothing was stored, start again when you like")
    )

    /// The person cancelled, or the issuer refused: it has one code for both (RFC 6749 §4.1.2.1).
    ///
    /// Its words are given as the reason, in its language, unless a code of its own says that the person cancelled.
    package static func cancelled(_ refusal: OAuthError) -> SignInError {
        guard let words = refusal.serverDescription, !words.isEmpty, !refusal.isOfThePerson else { return .cancelled }
        let problem = "the sign-in was cancelled or refused: \(refusal.problem)"
        return SignInError(.cancelled, .refusal(refusal), problem, cancelled.remedy)
    }

    package static let timedOut = SignInError(
        .timedOut,
        "no sign-in was completed within the time limit",
        .signIn("read the message on the page, and start again")
    )

    package static let codeEnded = SignInError(
        .timedOut,
        "the code has ended before the sign-in was completed",
        .startAgain
    )

    package static let alreadyRunning = SignInError(
        .alreadyRunning,
        "another sign-in is under way",
        Remedy(.retry, "finish or cancel it first")
    )

    package static func forgotPassword(_ refusal: OAuthError) -> SignInError {
        let remedy = Remedy.signIn("sign in with the user flow that resets it")
        return SignInError(.forgotPassword, .refusal(refusal), "the person asked for a new password", remedy)
    }

    package static func refused(_ refusal: OAuthError) -> SignInError {
        SignInError(.refused, .refusal(refusal), nil, refusal.signInRemedy)
    }

    package static let stateMismatch = SignInError(
        .stateMismatch,
        "no answer came within the time limit but one that belongs to another request and was refused",
        .startAgain
    )

    package static let foreignAnswer = SignInError(
        .stateMismatch,
        "the answer belongs to another request and was refused",
        .startAgain
    )

    package static let openedTwice = SignInError(
        .openedTwice,
        "the address given to the browser was opened twice, and another user of this machine may have read it",
        .signIn("start again, and open the page yourself")
    )

    package static func invalidAnswer(_ flaw: String) -> SignInError {
        SignInError(.invalidAnswer, "the answer \(flaw) and was refused", .startAgain)
    }

    static let answerUsed = SignInError.invalidAnswer("was used before")

    static let beingFinished = SignInError(
        .alreadyRunning,
        "another request is finishing this sign-in",
        Remedy(.retry, "try again in some seconds")
    )

    package static let noIDToken = SignInError(
        .noIDToken,
        "the issuer sent no ID token",
        Remedy(.checkRegistration, "check that the client may ask for openid")
    )

    package static let accountMismatch = SignInError(
        .accountMismatch,
        "a different account signed in",
        .signIn("sign in as the requested account")
    )

    package static func noDeviceEndpoint(_ issuer: String) -> SignInError {
        SignInError(
            .noDeviceEndpoint,
            "\(issuer) offers no sign-in with a device code",
            Remedy(.useBrowser, "sign in with a browser")
        )
    }

    package static func pushedRequests(_ issuer: IssuerMetadata) -> SignInError {
        SignInError(
            .pushedRequests,
            "\(issuer.issuer) takes only requests that were pushed to it (RFC 9126), which is not done here",
            withoutPage(issuer)
        )
    }

    package static func signedRequests(_ issuer: IssuerMetadata) -> SignInError {
        SignInError(
            .metadata,
            "\(issuer.issuer) takes only requests that are signed (RFC 9101), which is not done here",
            withoutPage(issuer)
        )
    }

    /// How to sign in where the issuer's page cannot be asked for.
    private static func withoutPage(_ issuer: IssuerMetadata) -> Remedy {
        issuer.deviceAuthorizationEndpoint == nil
            ? Remedy(.askOperator, "ask its operator to take other requests of this client")
            : Remedy(.useDevice, "sign in with a device code")
    }

    package static func noBrowser(
        _ problem: String,
        _ advice: String = "correct the address"
    ) -> SignInError {
        SignInError(.noBrowser, problem, .correct(advice))
    }

    package static func noListener(_ problem: String) -> SignInError {
        SignInError(.noListener, problem, .correct("free it or use another"))
    }

    package static func invalidIDToken(_ flaw: IDTokenFlaw) -> SignInError {
        SignInError(.invalidIDToken, .idToken(flaw))
    }

    package static func metadata(_ error: MetadataError) -> SignInError { SignInError(.metadata, .metadata(error)) }

    package static func dpop(_ error: DPoPError) -> SignInError { SignInError(.dpop, .dpop(error)) }
}

extension SignInError {
    /// Whether the network or the issuer failed in a way that may pass.
    public var isOutage: Bool {
        switch code {
        case .network: networkError?.isTransient ?? false
        case .unavailable: true
        case .refused: refusal?.meaning == .transient
        default: false
        }
    }

    /// The claims that the issuer refused to go on without, which the next sign-in is to ask for; nil: there are none.
    package var wantedClaims: JSONValue? {
        guard code == .refused, let claims = refusal?.claims, let parsed = try? JSONValue(parsing: claims) else {
            return nil
        }
        return parsed.object == nil ? nil : parsed
    }

    /// What the issuer is to ask the person for in the next sign-in, where it refused because it did not, or did not ask
    /// for a password as it was to; nil: nothing.
    package var neededPrompt: Prompt? {
        if idTokenFlaw == .oldSignIn { return .login }
        return code == .refused ? refusal?.neededPrompt : nil
    }

    /// What an error that an issuer answered with means.
    init(_ refusal: OAuthError) {
        let isForgotten = refusal.serverDescription?.contains("AADB2C90118") ?? false
        if isForgotten {
            self = .forgotPassword(refusal)
        } else if refusal.isByPerson {
            self = .cancelled(refusal)
        } else {
            self = .refused(refusal)
        }
    }

    /// What a sign-in throws for any error of a step: the store's as it is, since no answer of an issuer is its cause.
    static func thrown(for error: any Error) -> any Error {
        error is TokenStoreError ? error : SignInError(wrapping: error)
    }

    private init(wrapping error: any Error) {
        self =
            switch error {
            case let error as SignInError: error
            case is CancellationError: .cancelled
            case let error as HTTPTransportError: Self(.network, .network(error))
            case let error as IssuerUnavailable: Self(.unavailable, .unavailable(error))
            case let error as UnusableAnswer: Self(.unusableAnswer, .unusableAnswer(error))
            case let error as MetadataError: .metadata(error)
            case let error as DPoPError: .dpop(error)
            case let error as IDTokenFlaw: .invalidIDToken(error)
            case let error as OAuthError where error.isAboutProof: .dpop(.refusedProof(error))
            case let error as OAuthError: SignInError(error)
            case let error as DeviceAuthorizationError: Self(.invalidDeviceAuthorization, .device(error))
            case let error as AuthorityError: .invalidRequest(error)
            default: .invalidAnswer("could not be used (\(error))")
            }
    }
}

extension OAuthError {
    /// The words in which issuers say that the person cancelled or refused: OAuth's own, and some others.
    private static let refusals: Set<String> = [
        "access_denied", "authorization_declined", "user_cancelled", "user_cancelled_authorize", "user_cancelled_login",
    ]

    /// What an issuer calls it when the person has something to do there (OpenID Connect Core §3.1.2.6), and what it is
    /// to ask them for then.
    private static let promptings: [String: Prompt] = [
        "account_selection_required": .selectAccount, "consent_required": .consent, "interaction_required": .login,
        "login_required": .login, "mfa_required": .login,
    ]

    /// What the issuer is to ask the person for in the next sign-in, where it refused because it did not; nil: nothing.
    fileprivate var neededPrompt: Prompt? { Self.promptings[code.rawValue] }

    /// What helps with a refusal during a sign-in, where an unknown code is most likely about the request.
    fileprivate var signInRemedy: Remedy? {
        if claims != nil { return .signIn("sign in again with the claims that the issuer asks for") }
        if let neededPrompt { return .signIn("sign in again with the prompt \(neededPrompt.rawValue)") }
        return switch meaning {
        case .transient, .clientMisconfigured, .invalidScope, .policyRequired, .passwordReset: remedy
        // What was redeemed is the code of this sign-in, and it is spent or too old.
        case _ where code == .invalidGrant: .startAgain
        default: Remedy(.checkRegistration, "correct the request or the client's registration")
        }
    }

    /// Whether it says that the person cancelled, or did not consent: with `access_denied`, which the issuer itself may
    /// mean, only by a code of Azure AD B2C or Entra.
    fileprivate var isOfThePerson: Bool {
        guard code == .accessDenied else { return true }
        let words = serverDescription ?? ""
        return numbers.contains(65_004) || ["AADB2C90091", "AADSTS65004"].contains { words.firstRange(of: $0) != nil }
    }

    /// Whether the person refused.
    fileprivate var isByPerson: Bool { Self.refusals.contains(code.rawValue) }
}
