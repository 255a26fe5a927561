import ArgumentParser
import OAuth
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What `token` takes, and `explain` with it.
struct TokenArguments: ParsableArguments {
    @Option(
        name: [.customShort("s"), .long],
        parsing: .singleValue,
        help: ArgumentHelp(
            "A scope the token is for; repeatable, or a list with commas or spaces. If the issuer declines one, the "
                + "command says so. Default: the scope of the sign-in, if that names an API.",
            valueName: "scope"
        ),
        completion: StoreCompletion.of(.scope)
    )
    var scope: [String] = []

    @Option(
        name: .customLong("min-ttl"),
        help: ArgumentHelp("The least time that the token must stay valid.", valueName: "seconds")
    )
    var minTTL: Int64 = 0

    @Flag(
        help: "Refresh even if a stored token is valid or a refresh has just failed; not while the issuer asks to wait."
    )
    var forceRefresh = false

    @Option(
        help: ArgumentHelp("The claims challenge of a web API, as JSON.", valueName: "json"),
        transform: { try JSONValue(claims: $0, suchAs: "access_token") }
    )
    var claims: JSONValue?

    @Option(
        help: ArgumentHelp("The authority that issues the token. Default: the account's own.", valueName: "url"),
        transform: { text in
            do { return try Authority(parsing: text) } catch { throw ValidationError(error) }
        }
    )
    var authority: Authority?

    @Option(
        help: ArgumentHelp("Require a sign-in that is no longer ago than this, such as 12h or 7d.", valueName: "age"),
        transform: { try Age(parsing: $0) }
    )
    var maxSessionAge: Age?

    @Flag(help: "Use an expired token while the issuer cannot be reached, where the issuer allows that.")
    var extendedLifetime = false

    @Flag(help: "Also use refresh tokens of other clients of the family (Microsoft's own apps).")
    var familyTokens = false

    @Flag(help: "The ID token instead of an access token.")
    var idToken = false

    @Flag(help: "Never use the network: a token that the store does not have is an error.")
    var cached = false

    func validate() throws {
        try Scope.requireScopes(in: scope)
        guard minTTL >= 0 else { throw ValidationError("--min-ttl is less than 0", hint: "give a number of seconds") }
        guard !cached || !forceRefresh && claims == nil else {
            throw ValidationError("--cached excludes --force-refresh and --claims", hint: "leave --cached out")
        }
    }

    var scopes: Scope { Scope(arguments: scope) }

    /// How the manager answers the request.
    func options(_ network: NetworkArguments, _ arguments: StoreArguments) -> TokenManagerOptions {
        var options = network.options(arguments)
        options.maximumSessionAge = maxSessionAge.map { .seconds($0.seconds) }
        options.allowsExtendedLifetime = extendedLifetime
        options.usesFamilyTokens = familyTokens
        return options
    }

    /// The scope to request for `account`, by default that of its sign-in to `client`.
    func request(
        for account: Account,
        in tenant: String?,
        of client: String,
        in store: some StoreReading,
        timeout: Double
    ) throws -> SilentRequest {
        var scope = try scopes.isEmpty ? store.sessionScope(of: account.id, client: client) : scopes
        // The least that an ID token is asked for with.
        if idToken, scope?.isEmpty != false { scope = Scope("openid") }
        guard let scope, !scope.isEmpty else {
            throw CommandFailure(.usage, "the scope of the sign-in is not known", "give one with --scope")
        }
        guard !scope.matchesNothing || account.id.hasIssuer || idToken else {
            throw CommandFailure(
                .usage,
                "the sign-in asked for no scope of an API",
                "give a scope of the API with --scope"
            )
        }
        var request = SilentRequest(account: account.id, scope: scope)
        request.authority = try issuing(for: account, in: tenant)
        request.claims = claims
        request.forcesRefresh = forceRefresh
        request.minimumLifetime = .seconds(minTTL)
        request.timeout = .seconds(timeout)
        return request
    }

    /// What is to issue the token: the authority that is named, or the tenant; nil where neither is, or it is the one
    /// that the account is at home in.
    private func issuing(for account: Account, in tenant: String?) throws -> Authority? {
        if let authority { return authority }
        guard let tenant, let home = account.utid, home.lowercased() != tenant.lowercased(), account.userFlow == nil,
            !account.id.hasIssuer, !Cloud.isB2C(account.environment)
        else { return nil }
        return try Authority(parsing: "https://\(account.environment)/\(tenant)")
    }
}

extension TokenArguments {
    /// An ID token with less time than this is renewed before it is handed on, so that it arrives in time.
    private static let transit: Int64 = 60

    /// The newest ID token that the store has of an account from where it is asked for, with its end, if it is good for
    /// as long as is asked for and for `seconds`; nil: for as long as it takes to arrive.
    ///
    /// As with access tokens, a guest's does not stand in for that of the home tenant: who checks it trusts one issuer.
    func storedIDToken(
        of account: Account,
        _ client: String,
        _ filters: AccountFilters,
        in store: some StoreReading,
        lasting seconds: Int64? = nil
    ) throws -> (idToken: IDToken, end: Date)? {
        let authority = try issuing(for: account, in: filters.tenant)
        let newest = try store.idToken(of: account.id, client: client, from: authority)
        guard let idToken = newest?.idToken,
            let end = end(of: idToken, lasting: seconds ?? (cached ? 1 : Self.transit))
        else { return nil }
        return (idToken, end)
    }

    /// When an ID token ends, if it is good for as long as is asked for and for `seconds`.
    func end(of idToken: IDToken, lasting seconds: Int64) -> Date? {
        guard let end = idToken.claims.expiresAt, end.unixSeconds - Date().unixSeconds >= max(seconds, minTTL) else {
            return nil
        }
        return end
    }
}

extension Claims {
    /// `exp`: when the token ends.
    fileprivate var expiresAt: Date? { payload["exp"]?.seconds.map { Date(unixSeconds: $0) } }
}

extension JSONValue {
    /// Reads the argument of `--claims`; `member` is that of an example in the hint.
    init(claims text: String, suchAs member: String) throws {
        guard let claims = try? JSONValue(parsing: text), claims.object != nil else {  // whatever is wrong with it
            let hint = "give one such as {\"\(member)\":{\"acr\":null}}"
            throw ValidationError("--claims is not a JSON object", hint: hint)
        }
        self = claims
    }
}

/// A span of time as people write it: `90s`, `15m`, `12h`, `30d`, `8w`.
struct Age {
    let seconds: Int64

    init(parsing text: String) throws {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int64(text.dropLast()), number >= 0 else {
            throw ValidationError("'\(text)' is not an age", hint: "give one such as 90s, 15m, 12h, 30d or 8w")
        }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: unit)
        guard !overflow else { throw ValidationError("'\(text)' is too long", hint: "give one such as 30d or 8w") }
        self.seconds = seconds
    }
}

/// A command that hands a token on.
///
/// Each has the groups of options itself: in a group of their own, ArgumentParser would read them six times in a debug
/// build, where it looks for mistakes in every group.
protocol TokenConsumer: ParsableCommand {
    var token: TokenArguments { get }
    var filters: AccountFilters { get }
    var network: NetworkArguments { get }
    var arguments: StoreArguments { get }
}

extension TokenConsumer {
    /// The token that the options ask for.
    var acquisition: TokenAcquisition {
        TokenAcquisition(token: token, filters: filters, network: network, arguments: arguments)
    }
}
