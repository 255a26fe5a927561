import HTTPTransport
import LocalIdentityProvider
import OAuth
import TokenStoreCLI

/// How many signed refreshes with a rotated token the development issuer answers.
enum IssuerBenchmark: Benchmark {
    static let name = "IDP"
    private static let clients = 16

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let issuer = try AsynchronousWork.run { try await BenchIssuer() }
        defer { issuer.stop() }
        let (rounds, requests) = (bench.rounds, bench.scaled(200, quick: 20))
        let measured = try AsynchronousWork.run { try await rates(issuer, rounds: rounds, requests: requests) }
        let work = "local-idp throughput: refreshes a second by \(clients) clients"
        add(ReportRow(name, work, unit: .count, value: Spread(measured), limit: Limit(value: 1_000, isLeast: true)))
    }

    /// Each client has a session and spends the refresh token that its last answer brought.
    private static func rates(_ issuer: BenchIssuer, rounds: Int, requests: Int) async throws -> [Double] {
        var tokens: [Secret] = []
        for _ in 0..<clients { tokens.append(try refreshToken(of: await issuer.response())) }
        var rates: [Double] = []
        for _ in 0..<rounds {
            let start = Stopwatch.now()
            tokens = try await withThrowingTaskGroup(of: Secret.self) { group in
                for token in tokens {
                    group.addTask { try await refreshed(token, times: requests, at: issuer) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            rates.append(Double(clients * requests) / (Stopwatch.now() - start))
        }
        return rates
    }

    private static func refreshed(_ token: Secret, times: Int, at issuer: BenchIssuer) async throws -> Secret {
        let transport = AsyncHTTPTransport()
        var request = HTTPRequest("POST", issuer.provider.baseURL + "/fabrikvine/oauth2/v2.0/token")
        request.headers["content-type"] = "application/x-www-form-urlencoded"
        var token = token
        for _ in 0..<times {
            let form = "client_id=\(BenchIssuer.client)&grant_type=refresh_token&refresh_token=\(token.reveal())"
            request.body = Secret(form)
            let answer = try await transport.send(request, limits: .issuer)
            let object = try JSONValue(parsing: answer.body.reveal()).object
            token = try refreshToken(of: TokenResponse(object ?? JSONValue.Object()))
        }
        return token
    }

    private static func refreshToken(of response: TokenResponse) throws -> Secret {
        guard let token = response.refreshToken else { throw BenchFailure("local-idp gives no refresh token") }
        return token
    }
}
