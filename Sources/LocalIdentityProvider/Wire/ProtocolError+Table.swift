import OAuth

/// What the provider refuses, with the service's documented number or one above 9,900,000 where none is documented.
extension ProtocolError {
    private static func request(_ number: Int, _ text: String, status: Int = 400) -> Self {
        Self("invalid_request", number, text, status: status)
    }

    private static func grant(_ number: Int, _ text: String, _ suberror: String? = nil) -> Self {
        Self("invalid_grant", number, text, suberror: suberror)
    }

    // MARK: Requests

    /// The phrase is the one that native clients look for.
    static func invalidParameter(_ name: String) -> Self { request(90100, "\(name) parameter is empty or not valid.") }
    static let repeatedParameter = request(9_900_001, "A parameter is present more than once. Send each once.")
    static let oversizedParameter = request(9_900_002, "A parameter is too long, or there are too many. Send less.")
    static let contentType = request(9_900_003, "The body must be application/x-www-form-urlencoded.")
    static let brokenEncoding = request(9_900_004, "Percent encoding or UTF-8 is broken. Encode the parameters again.")
    static let oversizedBody = request(9_900_005, "The body is too long. Send less.", status: 413)
        .with(headers: ["connection": "close"])
    static func wrongMethod(allowed: String) -> Self {
        request(9_900_007, "The method is not allowed.", status: 405).with(headers: ["allow": allowed])
    }
    static let unknownRoute = Self("not_found", 9_900_008, "Nothing is at this path.", status: 404)
    static let foreignHost = request(9_900_009, "Only 127.0.0.1, [::1] and localhost are served.", status: 421)
    static let unknownRealm = request(9_900_010, "No tenant or policy has this name. Correct it.", status: 404)
    static let internalFault = Self("server_error", 9_900_099, "The provider failed.", status: 500)
    static let responseType = Self("unsupported_response_type", 90100, "Use response_type=code.")
    static let requestObject = Self("request_not_supported", 90100, "Send plain parameters.")
    static let codeChallenge = request(90100, "A code_challenge with code_challenge_method=S256 is needed.")
    static let redirectMissing = request(901_007, "The challenge_type list must include the 'redirect' type.")

    // MARK: Clients

    static let unknownClient = Self("unauthorized_client", 9_900_011, "No client has this client_id. Seed it.")
    static let nativeDisabled = Self(
        "invalid_client",
        9_900_012,
        "The client may not use native authentication here. Enable it in the seed, or use the tenant's authority.",
        suberror: "nativeauthapi_disabled"
    )
    static let clientSecret = Self("invalid_client", 9_900_013, "The client secret is missing or wrong.", status: 401)
        .with(headers: ["www-authenticate": #"Basic realm="local-idp""#])
    static let adminKey = Self("invalid_client", 9_900_013, "Send the key as x-admin-key.", status: 401)

    // MARK: People

    static let userNotFound = Self("user_not_found", 50034, "No user has this address. Sign up first.")
    static let userExists = Self("user_already_exists", 1_003_037, "The address is already registered. Sign in.")
    static let userDisabled = grant(9_900_024, "The account is disabled. Ask its administrator.")
    static let wrongPassword = grant(50126, "The address or the password is wrong. Try again.")
    static let mustReset = request(50142, "The password must be reset before the next sign-in.")
    static let noPassword = request(500_222, "The account signs in without a password. Sign in with a code.")
    static func password(_ suberror: String, _ text: String, number: Int = 9_900_018) -> Self {
        grant(number, text + " Choose another password.", suberror)
    }
    static let attributesNotJSON = request(9_900_017, "The attributes are not a JSON object.")
    static func attributes(_ names: [String]) -> Self {
        let text = "Some values are not accepted. Correct \(names.joined(separator: ", "))."
        return grant(9_900_017, text, "attribute_validation_failed")
            .with(["invalid_attributes": .array(names.map { ["name": .string($0)] })])
    }

    // MARK: Native flows

    static let wrongCode = grant(50181, "The code is wrong, old or voided. Enter the newest one.", "invalid_oob_value")
    static let tooManyCodes = request(9_900_019, "Too many codes were sent. Start the flow again.")
    /// A grant is refused where one is asked for, and a request elsewhere (L01).
    static func badContinuation(at route: Route) -> Self {
        let isGrant = [.signUpChallenge, .challenge, .token].contains(route)
        let text = "The continuation token is unknown, was used or belongs elsewhere. Start the flow again."
        return isGrant ? grant(55200, text) : request(55200, text)
    }
    static let expiredToken = Self("expired_token", 552_003, "The flow took too long. Start it again.")
    static let verificationRequired = Self("verification_required", 9_900_025, "Verify the address with a code first.")
        .with(["unverified_attributes": [["name": "email"]]])
    static let credentialRequired = Self("credential_required", 55103, "A password is needed.")
    static let attributesRequired = Self("attributes_required", 55106, "Attributes are needed.")
    static let secondFactorRequired = grant(50076, "A second factor is needed.", "mfa_required")
    static let registrationRequired = grant(9_900_021, "Register a second factor first.", "registration_required")
    static let contactRefused = request(901_001, "The contact is not valid. Enter another.")
    static let blocked = Self(
        "access_denied",
        9_900_020,
        "The method or contact is blocked. Choose another.",
        suberror: "provider_blocked_by_rep"
    )

    // MARK: Grants

    static func scope(_ text: String) -> Self { Self("invalid_scope", 9_900_014, text) }
    static let unsupportedGrant = Self("unsupported_grant_type", 9_900_015, "Use a grant that the metadata lists.")
    static let badAuthorizationCode = grant(9_900_015, "The code or its verifier is not good. Sign in again.")
    static let badRefreshToken = grant(9_900_016, "The refresh token was used or revoked. Sign in again.", "bad_token")
    static let foreignRefreshToken = grant(9_900_016, "The refresh token belongs to another client or policy.")
    static let expiredRefreshToken = grant(9_900_016, "The refresh token expired. Sign in again.")
    static let secondFactorClaimed = grant(50076, "The API asks for a second factor. Sign in interactively.")
    static func notConsented(_ scopes: [String]) -> Self {
        let text = "The user did not consent to \(scopes.joined(separator: " ")). Sign in interactively."
        return grant(65001, text, "consent_required")
    }
    static let claimsProvider = Self("server_error", 9_900_022, "The claims provider did not answer as agreed.")
    static let noSuchDevice = grant(9_900_023, "No device waits with this code.")
    static let unknownDevice = grant(9_900_023, "The device code is unknown. Start again.")
    static let deviceDenied = Self("access_denied", 65004, "The person refused. Start again if they agree.")
    static let devicePending = Self("authorization_pending", 9_900_023, "The device is not approved yet. Ask again.")
    static let deviceTooFast = Self("slow_down", 9_900_023, "Wait five seconds longer between requests.")

    /// RFC 6750 section 3: no error code when no token was sent.
    static func accessToken(_ code: String?, status: Int = 401) -> Self {
        let text = "The access token is missing, expired, revoked or for something else. Ask for a new one."
        return Self(code ?? "invalid_token", 90100, text, status: status)
            .with(headers: ["www-authenticate": code.map { #"Bearer error="\#($0)""# } ?? "Bearer"])
    }

    // MARK: Proofs

    /// RFC 9449 section 5.
    static func badProof(_ flaw: String) -> Self {
        Self("invalid_dpop_proof", 9_900_026, "The DPoP proof \(flaw). Make a new one.")
    }

    /// RFC 9449 section 8.
    static let nonceDemanded = Self("use_dpop_nonce", 9_900_027, "Repeat the nonce of the DPoP-Nonce header.")
    static let otherKey = grant(9_900_028, "The token is bound to another key. Prove that one.")

    /// The same as an API says it (RFC 9449 section 7.1).
    var atAPI: Self {
        Self(error, number, text, suberror: suberror, status: status == 400 ? 401 : status)
            .with(headers: ["www-authenticate": #"DPoP error="\#(error)", algs="ES256""#])
    }
}
