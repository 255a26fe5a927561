public import HTTPTransport
import Logging
import OAuth
public import TokenStorage

/// Hands out access tokens that are good to use, refreshing the stored ones when they are not.
///
/// However many callers in however many processes need the same token, the issuer sees one request.
///
/// ```swift
/// let manager = TokenManager(store: store, clientID: "my-app", transport: AsyncHTTPTransport())
/// let result = try await manager.acquireTokenSilently(SilentRequest(account: account.id, scope: "api://todo/Read"))
/// ```
public final class TokenManager: Sendable {
    public let store: TokenStore
    public let clientID: String
    public let options: TokenManagerOptions
    let transport: any HTTPTransport

    private let flights = Guarded<[FlightKey: Flight]>([:])
    private let metrics = TokenMetrics()

    package var decider: TokenDecider { TokenDecider(store: store, clientID: clientID, options: options) }

    public init(
        store: TokenStore,
        clientID: String,
        transport: any HTTPTransport,
        options: TokenManagerOptions = TokenManagerOptions()
    ) {
        self.store = store
        self.clientID = clientID
        self.transport = transport
        self.options = options
    }

    /// Returns an access token for `request` without asking anyone to sign in.
    ///
    /// The new refresh token is on disk before any caller sees the new access token. Cancelling one caller does not
    /// cancel the refresh that others wait for.
    ///
    /// - Throws: ``AcquisitionError``; `TokenStoreError`, which carries tokens that could not be stored.
    public func acquireTokenSilently(_ request: SilentRequest) async throws -> TokenResult {
        do {
            let result = try await result(for: request)
            metrics.count(result)
            return result
        } catch let error as AcquisitionError {
            metrics.count(error)
            throw error
        }
    }

    private func result(for request: SilentRequest) async throws -> TokenResult {
        let candidates: [RefreshCandidate]
        let fallback: Fallback?
        switch try decider.decide(request) {
        case .serve(let result): return result
        case .fail(let error): throw error
        case .refresh(let found, at: _, fallback: let standIn): (candidates, fallback) = (found, standIn)
        }
        do {
            let result = try await flight(for: request, candidates).result(within: request.timeout)
            // Judged for each caller, as those who share a refresh may differ in what they can do without.
            if request.requiresAllScopes, !result.declinedScope.isEmpty {
                throw AcquisitionError.declinedScopes(result)
            }
            return result
        } catch let error as AcquisitionError {
            guard let result = fallback?.result(after: error, account: request.account) else { throw error }
            options.logger.info("a refresh failed; the stored token serves", metadata: ["reason": "\(error.reason)"])
            return result
        }
    }

    /// The flight that answers `request`: one under way, or a new one.
    private func flight(for request: SilentRequest, _ candidates: [RefreshCandidate]) -> Flight {
        let key = FlightKey(request, clientID: clientID)
        let (flight, isNew) = flights.withLock { flights in
            if let flight = flights[key] { return (flight, false) }
            let flight = Flight()
            flights[key] = flight
            return (flight, true)
        }
        guard isNew else {
            metrics.countWaiting()
            return flight
        }
        Task {
            let outcome: Result<TokenResult, any Error>
            do {
                outcome = .success(try await refresh(request, candidates))
            } catch {
                outcome = .failure(error)
            }
            // Whoever comes now finds the outcome in the store.
            flights.withLock { $0[key] = nil }
            flight.land(outcome)
        }
        return flight
    }

    /// Refreshes under the lock of the account and this client, unless somebody else did while it was waited for.
    private func refresh(_ request: SilentRequest, _ candidates: [RefreshCandidate]) async throws -> TokenResult {
        let lock = try await RefreshLock.acquire(
            request.account,
            client: clientID,
            of: store.path,
            patience: TokenManagerOptions.patience
        )
        defer { withExtendedLifetime(lock) {} }
        if lock.wasWaitedFor { metrics.countWaiting() }
        let isAnswered = request.isAnswered(by: candidates, now: try await currentTokens(request))
        let request = isAnswered ? request.easier : request
        switch try await store.perform({ [decider] _ in try decider.decide(request) }) {
        case .serve(let result): return result
        case .fail(let error): throw error
        case .refresh(let candidates, at: let authority, fallback: _):
            let start = ContinuousClock.now
            defer { metrics.record(ContinuousClock.now - start) }
            let bounded = BoundedTransport(transport, end: start + options.longestRefresh)
            let issuer = Issuer(authority: authority, store: store, transport: bounded, limits: options.limits)
            let metadata = try await issuer.metadataForRefresh()
            let exchange = RefreshExchange(
                request: request,
                issuer: issuer,
                metadata: metadata,
                keys: try await issuer.keys(of: metadata),
                decider: decider
            )
            return try await exchange.run(candidates)
        }
    }

    private func currentTokens(_ request: SilentRequest) async throws -> [RefreshToken] {
        guard request.passesOverCache || request.minimumLifetime > 0 else { return [] }
        return try await store.perform { [clientID] in try $0.refreshTokens(of: request.account, client: clientID) }
    }
}
