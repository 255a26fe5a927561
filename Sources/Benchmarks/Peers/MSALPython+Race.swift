import HTTPTransport
import LocalIdentityProvider
import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension MSALPython {
    /// Each round has a session of its own: the one before may be over.
    ///
    /// The interpreters have started and loaded everything before the clock does.
    func race(_ bench: Bench, rounds: Int, processes: Int) throws -> RaceOutcome {
        let issuer = try AsynchronousWork.run { try await BenchIssuer() }
        defer { issuer.stop() }
        let authority = "https" + issuer.issuer.dropFirst("http".count)
        let session = [authority, BenchIssuer.client, BenchIssuer.scope.text]
        var outcome = RaceOutcome()
        for _ in 0..<rounds {
            let path = try bench.place("msal-race").directory
            try Self.answer(of: issuer).write(to: URL(fileURLWithPath: path + "/answer.json"))
            let cache = path + "/cache.json"
            _ = try child("begin", [cache] + session + [path + "/answer.json"]).output(errors: 2)
            let before = issuer.requests()
            issuer.provider.faults.add(
                .delay(milliseconds: RaceOutcome.issuerMilliseconds, at: "token", times: nil)
            )
            let crowd = Array(repeating: child("race", [cache] + session), count: processes)
            let (failed, seconds) = try Gate.runWhenReady(crowd)
            issuer.provider.faults.removeAll()
            outcome.add(seconds: seconds, processes: processes, failed: failed, requests: issuer.requests() - before)
        }
        return outcome
    }

    private static func answer(of issuer: BenchIssuer) throws -> Data {
        let response = try AsynchronousWork.run { try await issuer.response() }
        return try JSONEncoder().encode([
            "access_token": response.accessToken?.reveal(), "refresh_token": response.refreshToken?.reveal(),
            "id_token": response.idToken?.reveal(), "client_info": response.clientInfo,
        ])
    }
}
