public import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A request for an access token without a prompt.
public struct SilentRequest: Hashable, Sendable {
    /// Whose token is wanted.
    public let account: Account.ID

    /// Scopes such as `openid` may be among them and take no part; alone, they ask an issuer other than
    /// Microsoft for a token for no API in particular.
    public let scope: Scope

    /// Where the token is to be from; nil: the issuer of the account, and there the tenant of the application's own
    /// authority, else the account's home tenant.
    public var authority: Authority?

    /// A claims challenge of a web API: the stored token is passed over, and the claims are sent.
    public var claims: JSONValue?

    /// Passes over the stored token, and over the minute for which a failure is repeated without a request; the wait that
    /// an issuer asked for is kept.
    public var forcesRefresh = false

    /// Keeps to that minute all the same: for a program that repeats the request by itself.
    package var keepsWaits = false

    /// How long the token must stay valid at least.
    public var minimumLifetime: Duration = .zero

    /// Whether a token for fewer scopes than asked for is an error.
    public var requiresAllScopes = false

    /// The type of the token, such as `Bearer` or `DPoP`; a token of another one is an error, but for `Bearer`.
    public var tokenType = "Bearer"

    /// The key that a proof-of-possession token must be bound to.
    public var keyID: String?

    /// The username to fill in if a sign-in must follow; the request itself does not use it.
    public var loginHint: String?

    /// How long this caller waits; a refresh that others wait for goes on without it.
    public var timeout: Duration = .seconds(30)

    /// How long it waits where a stored token serves as well; nil: as long as for any other.
    var standInTimeout: Duration?

    /// A request for a token of an account that covers this scope.
    public init(account: Account.ID, scope: Scope) {
        self.account = account
        self.scope = scope
    }

    /// Whether a stored token will not do.
    var passesOverCache: Bool { forcesRefresh || claims != nil }

    /// Whether the scope says which access token is wanted; Microsoft's are each for one API, which OpenID's own scopes
    /// do not name, so that a refresh for those alone is for the ID token.
    var namesAPI: Bool { !scope.matchesNothing || account.hasIssuer }

    /// How long this caller waits for a refresh, in whose place a stored token can stand or not.
    func patience(hasStandIn: Bool) -> Duration {
        hasStandIn ? min(timeout, standInTimeout ?? timeout) : timeout
    }

    /// The request that names where it goes, where that decides which tokens serve: each tenant has its own.
    func naming(_ place: Authority) -> SilentRequest {
        guard authority == nil, place.issuer == nil, place.userFlow == nil, Cloud.hasTenants(place.environment)
        else { return self }
        var request = self
        request.authority = place
        return request
    }

    /// The request, content with any token that is good to use.
    var easier: SilentRequest {
        var request = self
        request.forcesRefresh = false
        request.minimumLifetime = .zero
        return request
    }

    /// Makes sure that the store can take what comes of this request: the refresh token would be spent for nothing.
    func requireText() throws(TokenStoreError) {
        let texts = [
            ("scope", scope.hasControlCharacters), ("token type", tokenType.hasControlCharacters),
            ("key id", keyID?.hasControlCharacters ?? false),
        ]
        guard let unfit = texts.first(where: { $0.1 }) else { return }
        throw .invalidArgument("the \(unfit.0) has a control character", .correct("correct the \(unfit.0)"))
    }

    /// Makes sure that a token which came of this request has the type and the key that were asked for.
    ///
    /// Where a bearer token was asked for any type serves, as that of a token which is bound to the key of the store.
    func requireType(of result: TokenResult) throws(AcquisitionError) {
        // What nearly all ask for, without a string for each of them.
        if keyID == nil, tokenType == "Bearer" { return }
        let (token, type) = (result.accessToken, tokenType.folded)
        let isOfType = type.isEmpty || type == "bearer" || type == token.tokenType.folded
        guard isOfType, keyID == nil || keyID == token.keyID else { throw .otherTokenType(result) }
    }

    /// Makes sure that a token which came of this request is good for as long as was asked for.
    ///
    /// A token's time counts from when it came, however long the caller was kept waiting, or from `start`, in Unix
    /// seconds, where it was there before. Where the clock was set back meanwhile, `start` is what it says now.
    func requireLifetime(of result: TokenResult, since start: Int64) throws(AcquisitionError) {
        let token = result.accessToken
        let came = max(start, token.cachedAt.map { $0.unixSeconds } ?? start)
        let seconds = token.expiresAt.unixSeconds - came
        let wanted = minimumLifetime.secondsRoundedUp
        guard seconds >= wanted else {
            throw .tooShort(result, seconds: max(0, seconds), wanted: wanted)
        }
    }
}

extension JSONValue {
    /// The `claims` parameter that asks for what two of them do; where both ask for the same claim, as the second does.
    package static func merging(claims: JSONValue?, _ more: JSONValue) -> JSONValue {
        guard var request = claims?.object, let further = more.object else { return more }
        for (place, claims) in further.members {
            guard var known = request[place]?.object, let wanted = claims.object else {
                request[place] = claims
                continue
            }
            for (name, value) in wanted.members { known[name] = value }
            request[place] = .object(known)
        }
        return .object(request)
    }

    /// The `claims` parameter: what is asked for, with what the client can do.
    package static func merging(claims: JSONValue?, capabilities: [String]) -> JSONValue? {
        guard !capabilities.isEmpty else { return claims }
        var request = claims?.object ?? Object()
        var accessToken = request["access_token"]?.object ?? Object()
        accessToken["xms_cc"] = .object(Object([("values", .array(capabilities.map { .string($0) }))]))
        request["access_token"] = .object(accessToken)
        return .object(request)
    }
}
