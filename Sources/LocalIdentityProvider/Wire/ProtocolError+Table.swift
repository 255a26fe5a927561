/// What the provider refuses, with the service's documented number or one above 9,900,000 where none is documented.
extension ProtocolError {
    // MARK: Requests

    static let repeatedParameter = invalidRequest(9_900_001, "A parameter is present more than once. Send each once.")
    static let oversizedParameter = invalidRequest(
        9_900_002,
        "A parameter is longer than \(Parameters.maximumBytes) bytes or there are more than "
            + "\(Parameters.maximumCount). Send less."
    )
    static let contentType = invalidRequest(9_900_003, "The body must be application/x-www-form-urlencoded.")
    static let brokenEncoding = invalidRequest(
        9_900_004,
        "Percent encoding or UTF-8 is broken. Encode the parameters again."
    )
    static let oversizedBody = Self(
        "invalid_request",
        9_900_005,
        "The body is longer than \(Gateway.maximumBody) bytes. Send less.",
        status: 413,
        headers: ["connection": "close"]
    )
    static func wrongMethod(allowed: String) -> Self {
        Self("invalid_request", 9_900_007, "The method is not allowed.", status: 405, headers: ["allow": allowed])
    }
    static let unknownRoute = Self("not_found", 9_900_008, "Nothing is at this path.", status: 404)
    static let foreignHost = Self(
        "invalid_request",
        9_900_009,
        "Only 127.0.0.1, [::1] and localhost are served.",
        status: 421
    )
    static let unknownRealm = Self(
        "invalid_request",
        9_900_010,
        "No tenant or policy has this name. Correct the authority.",
        status: 404
    )
    static let internalFault = Self("server_error", 9_900_099, "The provider failed.", status: 500)

    static let responseType = Self("unsupported_response_type", 90100, "Use response_type=code.")
    static let requestObject = Self("request_not_supported", 90100, "Send plain parameters.")
    static let codeChallenge = invalidRequest(90100, "A code_challenge with code_challenge_method=S256 is needed.")

    // MARK: Clients

    static let unknownClient = Self(
        "unauthorized_client",
        9_900_011,
        "No client of this tenant has this client_id. Register it in the seed."
    )
    static let nativeDisabled = Self(
        "invalid_client",
        9_900_012,
        "The client may not use native authentication. Enable it in the seed, or use the tenant's authority.",
        suberror: "nativeauthapi_disabled"
    )
    static let clientSecret = Self(
        "invalid_client",
        9_900_013,
        "The client secret is missing, wrong or not this client's to have.",
        status: 401,
        headers: ["www-authenticate": #"Basic realm="local-idp""#]
    )
    static let adminKey = Self("invalid_client", 9_900_013, "Send the key as x-admin-key.", status: 401)
    static let redirectMissing = invalidRequest(901_007, "The challenge_type list must include the 'redirect' type.")

    // MARK: Users and passwords

    static let userNotFound = Self("user_not_found", 50034, "No user has this address. Sign up first.")
    static let userExists = Self("user_already_exists", 1_003_037, "The address is already registered. Sign in.")
    static let userDisabled = invalidGrant(9_900_024, "The account is disabled. Ask its administrator.")
    static let wrongPassword = invalidGrant(50126, "The address or the password is wrong. Try again.")
    static let mustReset = invalidRequest(50142, "The password must be reset before the next sign-in.")
    static let noPassword = invalidRequest(500_222, "The account signs in without a password. Sign in with a code.")
    static func password(_ suberror: String, _ text: String, number: Int = 9_900_018) -> Self {
        invalidGrant(number, text + " Choose another password.", suberror: suberror)
    }
    static let attributesNotJSON = invalidRequest(9_900_017, "The attributes are not a JSON object.")
    static func attributes(_ names: [String]) -> Self {
        Self(
            "invalid_grant",
            9_900_017,
            "Some attributes have values that are not accepted. Correct \(names.joined(separator: ", ")).",
            suberror: "attribute_validation_failed",
            extra: ["invalid_attributes": .array(names.map { ["name": .string($0)] })]
        )
    }

    // MARK: Codes and flows

    static let wrongCode = invalidGrant(
        50181,
        "The code is wrong, too old or was tried too often. Enter the newest code or ask for another.",
        suberror: "invalid_oob_value"
    )
    static let tooManyCodes = invalidRequest(9_900_019, "Too many codes were sent. Start the flow again.")
    /// A grant is refused where one is asked for, and a request elsewhere.
    static func badContinuation(at route: Route) -> Self {
        let isGrant = [.signUpChallenge, .challenge, .token].contains(route)
        return Self(
            isGrant ? "invalid_grant" : "invalid_request",
            55200,
            "The continuation token is unknown, was used or belongs elsewhere. Start the flow again."
        )
    }
    static let expiredToken = Self("expired_token", 552_003, "The flow took too long. Start it again.")
    static let verificationRequired = Self(
        "verification_required",
        9_900_025,
        "The address must be verified first. Send the code.",
        extra: ["unverified_attributes": [["name": "email"]]]
    )
    static let contactRefused = invalidRequest(901_001, "The contact is not valid. Enter another.")
    static func blocked(_ what: String) -> Self {
        Self("access_denied", 9_900_020, "\(what) is blocked. Choose another.", suberror: "provider_blocked_by_rep")
    }

    // MARK: Grants

    static func scope(_ text: String) -> Self { Self("invalid_scope", 9_900_014, text) }
    static let unsupportedGrant = Self("unsupported_grant_type", 9_900_015, "Use a grant that the metadata lists.")
    static let badAuthorizationCode = invalidGrant(
        9_900_015,
        "The code is unknown, too old, used or belongs to another client, policy, redirect_uri or code_verifier. "
            + "Sign in again."
    )
    static let badRefreshToken = invalidGrant(
        9_900_016,
        "The refresh token was used before, revoked or never issued. Sign in again.",
        suberror: "bad_token"
    )
    static let foreignRefreshToken = invalidGrant(
        9_900_016,
        "The refresh token belongs to another client or policy. Sign in at this one."
    )
    static let expiredRefreshToken = invalidGrant(9_900_016, "The refresh token expired. Sign in again.")
    static let secondFactorClaimed = invalidGrant(50076, "The API asks for a second factor. Sign in interactively.")
    static func notConsented(_ scopes: [String]) -> Self {
        invalidGrant(
            65001,
            "Nobody agreed to \(scopes.joined(separator: " ")). Sign in interactively to be asked.",
            suberror: "consent_required"
        )
    }
    static let claimsProvider = Self(
        "server_error",
        9_900_022,
        "The claims provider did not answer as agreed. Start it, or let the seed omit its claims."
    )

    // MARK: Devices

    static let unknownDevice = invalidGrant(9_900_023, "The device code is unknown. Start again.")
    static let deviceDenied = Self("access_denied", 9_900_023, "The person refused. Start again if they agree.")
    static func devicePending(_ error: String, interval: Int) -> Self {
        Self(error, 9_900_023, "Nobody approved the device yet. Ask again in \(interval) seconds.")
    }

    // MARK: Access tokens

    /// RFC 6750 section 3: no error code when no token was sent.
    static func accessToken(_ code: String?, status: Int = 401) -> Self {
        Self(
            code ?? "invalid_token",
            90100,
            "The access token is missing, expired, revoked or for something else. Ask for a new one.",
            status: status,
            headers: ["www-authenticate": code.map { #"Bearer error="\#($0)""# } ?? "Bearer"]
        )
    }
}
