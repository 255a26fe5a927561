import ArgumentParser
import HTTPTransport
import Logging
import OAuth
import TokenManagement
import TokenStorage

/// What `token` takes, and `explain` with it.
struct TokenArguments: ParsableArguments {
    @Option(
        parsing: .singleValue,
        help: ArgumentHelp(
            "A scope the token must have; repeatable, or a list with commas or spaces. Default: what the account has "
                + "signed in for.",
            valueName: "scope"
        )
    )
    var scope: [String] = []

    @Option(
        name: .customLong("min-ttl"),
        help: ArgumentHelp("How long the token must be good for.", valueName: "seconds")
    )
    var minTTL: Int64 = 0

    @Flag(help: "Refresh although a stored token is good.")
    var forceRefresh = false

    @Option(
        help: ArgumentHelp("The claims challenge of a web API, as JSON.", valueName: "json"),
        transform: { try JSON(parsing: $0) }
    )
    var claims: JSON?

    @Option(
        help: ArgumentHelp("Where the token is to be from; else where the account signed in.", valueName: "url"),
        transform: { try Authority(parsing: $0) }
    )
    var authority: Authority?

    func validate() throws {
        guard minTTL >= 0 else { throw ValidationError("--min-ttl is less than 0; give a number of seconds") }
    }

    var scopes: Scope { Scope(scope.flatMap { $0.split { $0 == "," || $0.isWhitespace }.map(String.init) }) }

    /// What is asked for in the name of `account`, by default what it has signed in to `client` for.
    func request(
        for account: Account,
        in tenant: String?,
        of client: String,
        in store: TokenStore,
        timeout: Double
    ) throws -> SilentRequest {
        let scope = try scopes.tokens.isEmpty ? store.sessionScope(of: account.id, client: client) : scopes
        guard let scope, !scope.tokens.isEmpty else {
            throw CommandFailure(.usage, "the scope of the sign-in is not known", "give one with --scope")
        }
        guard !scope.isEmpty || account.id.hasIssuer else {
            throw CommandFailure(.usage, "OpenID's scopes alone name no API", "give one of the API's with --scope")
        }
        var request = SilentRequest(account: account.id, scope: scope)
        request.authority = try authority ?? Self.authority(of: account, in: tenant)
        request.claims = claims
        request.forcesRefresh = forceRefresh
        request.minimumLifetime = minTTL
        request.timeout = .seconds(timeout)
        return request
    }

    /// The tenant that a guest is asked for; nil where it is not named, or is the one the account is at home in.
    private static func authority(of account: Account, in tenant: String?) throws -> Authority? {
        guard let tenant, let home = account.utid, home.lowercased() != tenant.lowercased(), account.policy == nil,
            !account.id.hasIssuer
        else { return nil }
        return try Authority(parsing: "https://\(account.environment)/\(tenant)")
    }
}
