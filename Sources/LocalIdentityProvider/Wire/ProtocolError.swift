import HTTPTypes

/// An error answer of RFC 6749 section 5.2 with the fields that native authentication adds.
struct ProtocolError: Error, Hashable, CustomStringConvertible {
    var status = 400
    var error: String
    var suberror: String?
    var number: Int
    var text: String
    var extra: [String: JSON] = [:]
    var headers: [String: String] = [:]

    init(
        _ error: String,
        _ number: Int,
        _ text: String,
        suberror: String? = nil,
        status: Int = 400,
        extra: [String: JSON] = [:]
    ) {
        self.error = error
        self.number = number
        self.text = text
        self.suberror = suberror
        self.status = status
        self.extra = extra
    }

    var description: String { suberror.map { "\(error)/\($0)" } ?? error }
}

extension ProtocolError {
    static func invalidRequest(_ number: Int, _ text: String) -> Self { Self("invalid_request", number, text) }
    static func invalidGrant(_ number: Int, _ text: String, suberror: String? = nil) -> Self {
        Self("invalid_grant", number, text, suberror: suberror)
    }
    /// The phrase is the one that native clients look for.
    static func invalidParameter(_ name: String) -> Self {
        invalidRequest(ErrorNumber.invalidParameter, "\(name) parameter is empty or not valid.")
    }
    static var wrongCode: Self {
        invalidGrant(
            ErrorNumber.wrongCode,
            "The code is wrong, too old or was tried too often. Enter the newest code or ask for another.",
            suberror: "invalid_oob_value"
        )
    }
    static var expiredToken: Self {
        Self("expired_token", ErrorNumber.expiredToken, "The flow took too long. Start it again.")
    }
    static var userNotFound: Self {
        Self("user_not_found", ErrorNumber.userNotFound, "No user has this address. Sign up first.")
    }
    static var wrongPassword: Self {
        invalidGrant(ErrorNumber.wrongPassword, "The address or the password is wrong. Try again.")
    }
    static var badRefreshToken: Self {
        invalidGrant(
            ErrorNumber.refreshToken,
            "The refresh token was used before, revoked or never issued. Sign in again.",
            suberror: "bad_token"
        )
    }
    static func blocked(_ what: String) -> Self {
        Self(
            "access_denied",
            ErrorNumber.methodBlocked,
            "\(what) is blocked. Choose another.",
            suberror: "provider_blocked_by_rep"
        )
    }
}
