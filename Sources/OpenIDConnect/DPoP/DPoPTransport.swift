package import HTTPTransport
package import OAuth
import Synchronization

/// Sends requests with proofs of a key, and once more where a server asks for its nonce in them
/// ([RFC 9449 §8, §9](https://www.rfc-editor.org/rfc/rfc9449#section-8)).
///
/// A server that asks for a nonce, or refuses the proof, has not taken the request: no code and no refresh token is
/// spent by it.
package struct DPoPTransport: HTTPTransport {
    private let key: DPoPKey
    private let servers: DPoPServers
    private let transport: any HTTPTransport

    /// The access token that goes with each request; nil at the endpoints of an issuer.
    private let accessToken: Secret?

    /// Unix seconds.
    private let now: @Sendable () -> Int64

    package init(
        _ key: DPoPKey,
        servers: DPoPServers,
        transport: any HTTPTransport,
        accessToken: Secret? = nil,
        now: @escaping @Sendable () -> Int64
    ) {
        self.key = key
        self.servers = servers
        self.transport = transport
        self.accessToken = accessToken
        self.now = now
    }

    package func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        guard let origin = WebAddress(request.url)?.origin else {
            throw DPoPError.badAddress(request.description)
        }
        var answered: Set<Complaint> = []
        while true {
            let clock = now()
            let known = servers.state(of: origin)
            var proven = request
            proven.headers["dpop"] = try key.proof(
                of: request,
                accessToken: accessToken,
                nonce: known.nonce,
                at: clock + known.clockOffset
            )
            let response = try await transport.send(proven, limits: limits)
            let hasNonce = servers.learn(from: response, at: origin)
            // Each complaint is answered once: what the server says next is the caller's to judge.
            guard let complaint = Complaint(response), answered.insert(complaint).inserted,
                complaint == .proof || hasNonce
            else { return response }
            if complaint == .proof { servers.learnClock(from: response, at: origin, ours: clock) }
        }
    }

    /// What a server does not like about a proof.
    private enum Complaint: String, CaseIterable {
        case nonce = "use_dpop_nonce"
        case proof = "invalid_dpop_proof"

        /// The token endpoint says it in JSON, an API in its challenge.
        init?(_ response: HTTPResponse) {
            guard response.status == 400 || response.status == 401 else { return nil }
            let challenge = AuthenticationChallenge.all("dpop", in: response).compactMap { $0["error"] }.first
            // Only an object can carry an error.
            let error = challenge ?? response.jsonObject()?["error"]?.text
            guard let complaint = error.flatMap({ Self(exactly: $0) }) else { return nil }
            self = complaint
        }
    }
}

/// What servers have said about the proofs that they want, for as long as the process runs.
package final class DPoPServers: Sendable {
    struct State {
        /// To be repeated in the next proof.
        var nonce: String?

        /// What is to be added to this machine's clock, in seconds.
        var clockOffset: Int64 = 0
    }

    /// More servers than one program talks to.
    private static let capacity = 100

    /// RFC 9449 sets no limit; a header field of more is refused by most servers.
    private static let longestNonce = 1_024

    /// A clock that is further off has other faults than to be off.
    private static let greatestOffset: Int64 = 86_400

    private let states = LockedValue<[String: State]>([:])

    package init() {}

    func state(of origin: String) -> State { states.withLock { $0[origin] } ?? State() }

    /// Keeps the nonce of a response for the next proof; anything else than a nonce is ignored.
    ///
    /// - Returns: whether it has one.
    func learn(from response: HTTPResponse, at origin: String) -> Bool {
        let values = response.headers.values(of: "dpop-nonce")
        guard values.count == 1, let nonce = values.first, Self.isNonce(nonce) else { return false }
        change(origin) { $0.nonce = nonce }
        return true
    }

    /// Takes over a server's clock, where it says what it is.
    func learnClock(from response: HTTPResponse, at origin: String, ours: Int64) {
        guard let theirs = response.headers["date"].flatMap(HTTPDate.seconds), abs(theirs - ours) <= Self.greatestOffset
        else { return }
        change(origin) { $0.clockOffset = theirs - ours }
    }

    private func change(_ origin: String, _ body: (inout State) -> Void) {
        states.withLock { states in
            if states[origin] == nil, states.count >= Self.capacity { states.removeAll() }
            body(&states[origin, default: State()])
        }
    }

    /// RFC 9449 §8.1.
    private static func isNonce(_ text: String) -> Bool {
        (1...longestNonce).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }
    }
}
