public import HTTPTransport
import OAuth
import OpenIDConnect
import Synchronization
public import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Returns usable access tokens, and refreshes the stored ones when they are not.
///
/// However many callers in however many processes need the same token, the issuer sees one request.
///
/// ```swift
/// let manager = TokenManager(store: store, clientID: "my-app", transport: AsyncHTTPTransport())
/// let result = try await manager.acquireTokenSilently(SilentRequest(account: account.id, scope: "api://todo/Read"))
/// ```
public final class TokenManager: Sendable {
    /// Where the tokens are kept.
    public let store: TokenStore

    /// The client whose tokens it manages.
    public let clientID: String

    /// What it was made with.
    public let options: TokenManagerOptions
    let transport: any HTTPTransport

    private let refreshes = LockedValue<[SharedRefresh.Key: SharedRefresh]>([:])
    private let slots: RefreshSlots
    private let metrics = TokenMetrics()

    /// The fetches of issuers' documents that are under way.
    private let fetches = SharedFetches()

    /// The nonces of issuers and web APIs.
    let dpopServers = DPoPServers()

    package var decider: TokenDecider { TokenDecider(store: store, clientID: clientID, options: options) }

    /// A manager of one client's tokens in a store.
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
        slots = RefreshSlots(options.refreshesAtOnce)
    }

    /// Returns an access token for `request` without a prompt.
    ///
    /// The new refresh token is on disk before any caller sees the new access token. Cancelling one caller does not
    /// cancel the refresh that others wait for.
    ///
    /// - Throws: ``AcquisitionError``; `TokenStoreError`, which carries tokens that could not be stored;
    ///   `CancellationError`, where the task was cancelled or the store takes no further answers.
    public func acquireTokenSilently(_ request: SilentRequest) async throws -> TokenResult {
        try await acquireTokenSilently(request, insteadOf: nil)
    }

    /// The same where a web API has refused a token: any other that is stored by now serves.
    func acquireTokenSilently(_ request: SilentRequest, insteadOf refused: AccessToken?) async throws -> TokenResult {
        var request = request
        if let tenant = options.tenant, tenant.vouches(for: request.account) { request = request.naming(tenant) }
        do {
            let result = try await result(for: request, insteadOf: refused)
            metrics.count(result)
            return result
        } catch let error as AcquisitionError {
            metrics.count(error)
            throw error.asking(for: request.claims)
        }
    }

    private func result(for request: SilentRequest, insteadOf refused: AccessToken?) async throws -> TokenResult {
        let (fallback, isUnderWay): (FallbackToken?, Bool)
        switch try await course(refused == nil ? request : sufficient(request, passingOver: refused)) {
        case .serve(let result): return result
        case .refresh(let standIn, let hasBegun): (fallback, isUnderWay) = (standIn, hasBegun)
        }
        try request.requireText()
        let start = now
        do {
            let shared = sharedRefresh(for: request, insteadOf: refused, isUnderWay: isUnderWay)
            let patience = request.patience(hasStandIn: fallback != nil)
            let result = try await limited(shared.result(within: patience), request)
            // Judged for each caller, as those who share a refresh may differ in what they can do without.
            if request.requiresAllScopes, !result.declinedScope.isEmpty {
                throw AcquisitionError.declinedScopes(result)
            }
            try request.requireType(of: result)
            try request.requireLifetime(of: result, since: min(start, now))
            return result
        } catch let error as AcquisitionError {
            guard let result = fallback?.result(after: error, account: request.account) else {
                if error.code == .timedOut { try await store.requireNoHolder() }
                throw error
            }
            return try await standIn(result, for: request, after: error, called: error.word)
        } catch let error as TokenStoreError where error.concernsWriting {
            // What could not be written is the refresh; the token was read.
            guard let result = fallback?.result(unrefreshed: request.account) else { throw error }
            return try await standIn(result, for: request, after: error, called: "\(error)")
        }
    }

    /// The token, cut to the end of its session; where that has come, ``AcquisitionError`` is thrown.
    package func limited(_ result: TokenResult, _ request: SilentRequest) async throws -> TokenResult {
        guard options.maximumSessionAge != nil else { return result }
        return try await store.performRead { [decider] _ in try decider.limited(result, request) }
    }

    /// Unix seconds.
    private var now: Int64 { store.options.now().unixSeconds }

    /// The shared refresh that answers `request`: one under way, or a new one.
    private func sharedRefresh(
        for request: SilentRequest,
        insteadOf refused: AccessToken?,
        isUnderWay: Bool
    ) -> SharedRefresh {
        let key = SharedRefresh.Key(request, clientID: clientID, insteadOf: refused)
        let (sharedRefresh, isNew) = refreshes.withLock { refreshes in
            let known = refreshes[key]
            let sharedRefresh = known ?? SharedRefresh()
            sharedRefresh.addCaller()
            refreshes[key] = sharedRefresh
            return (sharedRefresh, known == nil)
        }
        guard isNew else {
            metrics.countWaiting()
            return sharedRefresh
        }
        Task {
            let wasWaitedFor = await slots.take(at: request.account.issuer)
            defer { slots.giveBack(at: request.account.issuer) }
            if wasWaitedFor, isAbandoned(sharedRefresh, key) { return }
            let outcome: Result<TokenResult, any Error>
            do {
                outcome = .success(try await refreshInTurn(request, insteadOf: refused, isUnderWay: isUnderWay))
            } catch {
                outcome = .failure(error)
            }
            // A later caller finds the outcome in the store.
            refreshes.withLock { $0[key] = nil }
            sharedRefresh.finish(outcome)
        }
        return sharedRefresh
    }

    /// Takes a refresh off the list that everyone has left while it waited to begin.
    private func isAbandoned(_ sharedRefresh: SharedRefresh, _ key: SharedRefresh.Key) -> Bool {
        refreshes.withLock { refreshes in
            if sharedRefresh.isAbandoned { refreshes[key] = nil }
            return sharedRefresh.isAbandoned
        }
    }

    /// Refreshes when it is this caller's turn, unless another caller refreshed in the meantime.
    private func refreshInTurn(
        _ request: SilentRequest,
        insteadOf refused: AccessToken?,
        isUnderWay: Bool
    ) async throws -> TokenResult {
        let start = self.now
        // The one that an API refused may have been replaced before this began.
        let before = if let refused { refused } else { try await passedOverToken(request) }
        let outcome = try await RefreshTurn.wait(
            of: request.account,
            client: clientID,
            in: store,
            patience: options.patience,
            isUnderWay: isUnderWay
        ) {
            let request = try await sufficient(request, passingOver: before)
            let decision = try await store.performRead { [decider] _ in try decider.decide(request, since: start) }
            // All that is not a token to serve is judged in turn.
            guard case .serve(let result) = decision else { return nil }
            return result
        }
        var turn: RefreshTurn
        switch outcome {
        case .turn(let taken): turn = taken
        case .answered(let result):
            metrics.countWaiting()
            return result
        }
        do {
            let result = try await refreshUnlessServed(request, inTurn: &turn, since: start, passingOver: before)
            await turn.end()
            return result
        } catch {
            await turn.end()
            throw error
        }
    }

    private func refreshUnlessServed(
        _ request: SilentRequest,
        inTurn turn: inout RefreshTurn,
        since start: Int64,
        passingOver before: AccessToken?
    ) async throws -> TokenResult {
        if turn.wasWaitedFor { metrics.countWaiting() }
        // What the issuer told others during the wait applies to this request too.
        let since = turn.wasWaitedFor ? start : nil
        // What an earlier refresh could not store is newer than what the store has.
        try await store.perform { try $0.takeInAnswers() }
        var choices = 0
        while true {
            let request = try await sufficient(request, passingOver: before)
            let expectsToken = turn.wasWaitedFor || choices > 0
            let decision = try await store.performRead { [decider] _ in
                try decider.decide(request, since: since, expectsToken: expectsToken)
            }
            switch decision {
            case .serve(let result): return result
            case .fail(let error): throw error
            case .refresh(let candidates, at: let authority, fallback: _):
                if try await turn.extend(to: candidates) {
                    // Another process may have refreshed with the family's token meanwhile, and left the answer in a file.
                    try await store.perform { try $0.takeInAnswers() }
                    continue
                }
                do {
                    return try await exchange(candidates, for: request, at: authority, inTurn: turn)
                } catch is ReplacedToken {
                    // Another refreshed or signed in meanwhile: what it stored is looked at.
                    choices += 1
                    guard choices < 3 else { throw TokenStoreError.overtaken(at: store.location) }
                }
            }
        }
    }

    private func exchange(
        _ candidates: [RefreshCandidate],
        for request: SilentRequest,
        at authority: Authority,
        inTurn turn: RefreshTurn
    ) async throws -> TokenResult {
        let start = ContinuousClock.now
        defer { metrics.record(ContinuousClock.now - start) }
        let bounded = BoundedTransport(transport, end: start + options.longestRefresh)
        let exchange = RefreshExchange(
            store: store,
            request: request,
            issuer: try await issuer(authority, over: bounded),
            decider: decider,
            dpopServers: dpopServers,
            turn: turn
        )
        return try await OperationSpan.run(.refresh) { span in
            span.setServer(exchange.issuer.metadata.tokenEndpoint)
            return try await exchange.run(candidates)
        }
    }

    private func issuer(_ authority: Authority, over transport: some HTTPTransport) async throws -> Issuer {
        var documents = documents(of: authority, over: transport)
        documents.fetches = fetches
        documents.keepsWaits = true
        do {
            return try await Issuer(documents)
        } catch MetadataError.foreignEndpoint {
            // A refresh token is sent only to the issuer at which the account signed in.
            throw AcquisitionError.interactionRequired(.foreignEndpoint)
        } catch {
            throw AcquisitionError(documents: error) ?? error
        }
    }

    func documents(of authority: Authority, over transport: any HTTPTransport) -> IssuerDocuments {
        IssuerDocuments(of: authority, cachedIn: store, transport: transport, limits: options.limits)
    }
}
