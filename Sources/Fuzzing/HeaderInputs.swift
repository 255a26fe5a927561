import HTTPTransport
import OAuth
import OpenIDConnect
import Synchronization
import TokenManagement

/// What a web API or an issuer says in `WWW-Authenticate` to a token that it does not take.
struct ChallengeInput: FuzzInput {
    func run(_ bytes: [UInt8]) throws {
        let text = String(decoding: bytes, as: UTF8.self)
        let response = HTTPResponse(status: 401, headers: HTTPHeaders([(name: "WWW-Authenticate", value: text)]))
        for scheme in ["bearer", "dpop"] {
            let challenges = AuthenticationChallenge.all(scheme, in: response)
            try hold(challenges.count <= text.split(separator: ",").count, "a comma is between two challenges")
            try hold(challenges.isEmpty || text.lowercased().contains(scheme), "a challenge names its scheme")
        }
        guard let claims = BearerChallenge(response)?.claims else { return }
        try checkRoundTrip(of: claims)
    }

    /// Claims that were read are read again as the same, however they travel.
    private func checkRoundTrip(of claims: JSONValue) throws {
        let encoded = Base64URL.encode(claims.serialized.utf8)
        for error in ["invalid_token", "insufficient_claims"] {
            let fields = [
                "Basic realm=\"a, b=c\", Bearer error=\"\(error)\", claims=\"\(encoded)\"",
                "bearer claims=\(encoded), error=\(error)",
            ]
            for field in fields {
                let again = HTTPResponse(status: 401, headers: HTTPHeaders([(name: "www-authenticate", value: field)]))
                try hold(BearerChallenge(again)?.claims == claims, "claims of \(field) are the ones sent")
            }
        }
    }
}

/// A server that answers requests with proofs: a URL on the first line, and behind it an answer as other issuers give
/// it.
struct DPoPInput: FuzzInput {
    private let key: DPoPKey

    init() throws { key = DPoPKey() }

    func run(_ bytes: [UInt8]) async throws {
        let lines = bytes.split(separator: UInt8(ascii: "\n"), maxSplits: 1, omittingEmptySubsequences: false)
        let url = String(decoding: lines[0], as: UTF8.self)
        let server = CountingIssuer(CannedIssuer(lines.count > 1 ? Array(lines[1]) : []))
        let servers = DPoPServers()
        let transport = DPoPTransport(key, servers: servers, transport: server, now: { IDTokenInput.now })
        for _ in 0..<2 {
            do {
                _ = try await transport.send(HTTPRequest("POST", url), limits: .issuer)
            } catch let error {
                _ = try unlessRefused(by: DPoPError.self) { throw error }
            }
        }
        let proofs = server.proofs.withLock(\.self)
        // Each of the two complaints is answered once.
        try hold(proofs.count <= 6, "a server is asked three times at most, and not \(proofs.count)")
        for proof in proofs { try check(proof, of: url) }
    }

    private func check(_ proof: String, of url: String) throws {
        let token = try IDToken(decoding: Secret(proof))
        let claims = token.claims.payload
        guard let target = claims["htu"]?.text else { throw BrokenPromise("a proof names its address") }
        try hold(!target.contains { "?#".contains($0) }, "\(target) has no query")
        try hold(WebAddress(target)?.origin == WebAddress(url)?.origin, "\(target) is where \(url) is")
        try hold(claims["htm"]?.text == "POST", "a proof names its method")
        try hold(claims["iat"]?.seconds.map { abs($0 - IDTokenInput.now) <= 86_400 } == true, "a proof is of today")
        let nonce = claims["nonce"]?.text ?? ""
        try hold(nonce.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F }, "a nonce goes into one line")
    }
}

/// An issuer that keeps the proofs that were sent to it.
private final class CountingIssuer: HTTPTransport {
    let proofs = LockedValue<[String]>([])
    private let issuer: CannedIssuer

    init(_ issuer: CannedIssuer) { self.issuer = issuer }

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        proofs.withLock { $0 += request.headers.values(of: "dpop") }
        return try await issuer.send(request, limits: limits)
    }
}
