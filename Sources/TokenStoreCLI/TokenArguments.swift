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
            "A scope the token must have; repeatable, or a list with commas or spaces.",
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
        guard !scopes.isEmpty else {
            throw ValidationError("--scope is missing or names only scopes such as openid; give one of the API's")
        }
        guard minTTL >= 0 else { throw ValidationError("--min-ttl is less than 0; give a number of seconds") }
    }

    var scopes: Scope { Scope(scope.flatMap { $0.split { $0 == "," || $0.isWhitespace }.map(String.init) }) }

    func request(for account: Account.ID, timeout: Double) -> SilentRequest {
        var request = SilentRequest(account: account, scope: scopes)
        request.authority = authority
        request.claims = claims
        request.forcesRefresh = forceRefresh
        request.minimumLifetime = minTTL
        request.timeout = .seconds(timeout)
        return request
    }
}
