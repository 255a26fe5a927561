import ArgumentParser
import OAuth
import OpenIDConnect
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The token that a command hands on: whose, which, and how it is had, from the store or by a refresh.
struct TokenAcquisition {
    var token: TokenArguments
    let filters: AccountFilters
    let network: NetworkArguments
    var arguments: StoreArguments

    /// The token, once a person was told what there is to know of it.
    ///
    /// One `after` another is of the same account and client, whatever others choose meanwhile; a forced refresh keeps
    /// to the minute after a failure.
    func token(on console: Console, after last: HandedToken? = nil) throws -> HandedToken {
        if token.idToken { return try idToken(on: console, after: last) }
        let (result, owner) = try result(on: console, after: last)
        try tell(result, console)
        return try HandedToken(result, of: owner)
    }

    func tell(_ result: TokenResult, _ console: Console) throws {
        if let reason = result.pendingReason { console.notePending(reason, at: try arguments.location) }
        if result.refreshFailed {
            let state = result.freshness == .extended ? "has expired, and stands in for an outage" : "is still valid"
            console.note("the refresh failed; the stored token \(state)")
        }
        let missing = result.declinedScope.text
        if !missing.isEmpty { console.warn("the issuer did not grant \(missing)") }
    }

    /// An access token.
    private func result(on console: Console, after last: HandedToken?) throws -> (TokenResult, TokenOwner) {
        var standIn: (TokenResult, TokenOwner)?
        var patience = Duration.seconds(arguments.timeout)
        let found = try arguments.fromStandbyIfNeeded(console) { decides in
            try stored(after: last, orElse: &standIn, within: &patience, decides: decides, console)
        }
        if let found { return found }
        guard try !arguments.isVacant else { throw try CommandFailure.noStore(at: arguments.location) }
        do {
            let store = try arguments.open(console, within: patience)
            defer { store.close() }
            // Opening skips the answers that another process is just taking in.
            try store.takeInAnswers()
            guard !token.cached else { return try decided(in: store, after: last) }
            let owner = try chosen(in: store, after: last)
            return (try acquire(of: owner, in: store, isRepeated: last != nil, console), owner)
        } catch let error where Self.mayPass(error) {
            guard let standIn, standIn.0.isGood(at: Date()) else { throw error }
            return standIn
        }
    }

    /// Whether a refresh failed because the store could not be written, or no answer came in time.
    private static func mayPass(_ error: any Error) -> Bool {
        (error as? TokenStoreError)?.concernsWriting ?? ((error as? AcquisitionError)?.code == .timedOut)
    }

    /// Asks the issuer, unless the store has a token by now.
    func acquire(of owner: TokenOwner, in store: TokenStore, isRepeated: Bool, _ console: Console) throws
        -> TokenResult
    {
        let (account, client) = owner
        let manager = try network.manager(store, client: client, token.options(network, arguments))
        var request = try request(account, of: client, in: store)
        // The time is kept here: a caller that left would not learn what became of an answer that is waited for.
        let time = request.timeout
        request.timeout = time + .seconds(3600)
        request.keepsWaits = isRepeated
        let unhurried = request
        do {
            let result = try AsynchronousWork.run(keepingAnswersOf: store, within: time) {
                try await manager.acquireTokenSilently(unhurried)
            }
            warn(of: result, signInAgain(account, client, request, in: store), console)
            return result
        } catch is CancellationError {
            try store.requireNoHolder()
            throw AcquisitionError.timedOut
        } catch let error as AcquisitionError where token.idToken && error.idToken != nil {
            // What was asked for.
            throw error
        } catch let error as TokenStoreError where error.code == .userFlowMismatch {
            throw signInAgain(account, client, request, in: store).completing(CommandFailure(error))
        } catch let error as AcquisitionError where isRepeated && error.interaction == .noAccount {
            throw noLongerSignedIn(account, signInAgain(account, client, request, in: store))
        } catch let error as AcquisitionError {
            let again = signInAgain(account, client, request, in: store).meeting(error)
            throw again.completing(CommandFailure(error))
        }
    }

    /// Says that the session has ended although the token is good for a while.
    private func warn(of result: TokenResult, _ again: @autoclosure () -> SignInAgain, _ console: Console) {
        guard result.interactionSoon else { return }
        let command = (try? again().command()).map { ", with '\($0)'" } ?? ""
        console.note("sign in again before this token expires\(command)")
    }

    func signInAgain(
        _ account: Account,
        _ client: String,
        _ request: SilentRequest?,
        in store: some StoreReading
    ) -> SignInAgain {
        SignInAgain(account, client, request, in: store, network, arguments)
    }

    func request(_ account: Account, of client: String, in store: some StoreReading) throws -> SilentRequest {
        try token.request(for: account, in: filters.tenant, of: client, in: store, timeout: arguments.timeout)
    }
}

// MARK: - From the store alone

extension TokenAcquisition {
    /// The answer where the store alone has it, found without opening the store for writing; or else what may stand in
    /// where it cannot be opened for that.
    ///
    /// A wait for another process that holds a file is taken off `patience`: the opening for writing waits on.
    private func stored(
        after last: HandedToken?,
        orElse standIn: inout (TokenResult, TokenOwner)?,
        within patience: inout Duration,
        decides: Bool,
        _ console: Console
    ) throws -> (TokenResult, TokenOwner)? {
        let limit = try arguments.location.path == nil ? patience : min(.seconds(1), patience / 2)
        do {
            guard let store = try arguments.inspected(within: limit, decides: decides),
                let owner = try selected(store, after: last)
            else { return nil }
            let (account, client) = owner
            let request = try request(account, of: client, in: store)
            switch try decide(request, of: owner, in: store) {
            case .serve(let result):
                warn(of: result, signInAgain(account, client, request, in: store), console)
                return (result, owner)
            case let other where token.cached:
                throw Self.refusal(other, signInAgain(account, client, request, in: store))
            case .refresh(_, at: _, let fallback):
                standIn = fallback?.result(unrefreshed: account.id).map { ($0, owner) }
                return nil
            case .fail: return nil
            }
        } catch let error as TokenStoreError where [.storeBusy, .failure].contains(CommandFailure(error).status) {
            // A file that another process opened meanwhile, or one of an older version, is opened for writing instead;
            // a server would not answer sooner.
            guard try arguments.location.path != nil else { throw error }
            patience -= limit
            return nil
        }
    }

    /// What the store has, without a request to the issuer.
    private func decided(in store: TokenStore, after last: HandedToken?) throws -> (TokenResult, TokenOwner) {
        let (account, client) = try chosen(in: store, after: last)
        let request = try request(account, of: client, in: store)
        let decision = try decide(request, of: (account, client), in: store)
        guard case .serve(let result) = decision else {
            throw Self.refusal(decision, signInAgain(account, client, request, in: store))
        }
        return (result, (account, client))
    }

    private func decide(
        _ request: SilentRequest,
        of owner: TokenOwner,
        in store: some UsableTokenReading
    ) throws -> TokenDecision {
        let decider = TokenDecider(store: store, clientID: owner.client, options: token.options(network, arguments))
        let decision: TokenDecision
        do {
            decision = try decider.decide(request)
        } catch let error as TokenStoreError where error.code == .userFlowMismatch {
            throw signInAgain(owner.account, owner.client, request, in: store).completing(CommandFailure(error))
        }
        // A token that is due for a refresh, and good enough where none can be had.
        guard token.cached, case .refresh(_, at: _, let fallback) = decision else { return decision }
        guard case .aging(let aging) = fallback else {
            // A refresh would bring another; here an altered one is not to look like none.
            try store.requireOpenableTokens(for: decider.query(request))
            return decision
        }
        var result = TokenResult(aging, account: request.account, source: .cache)
        result.freshness = .aging
        return .serve(result)
    }

    /// Why the store alone does not do.
    private static func refusal(_ decision: TokenDecision, _ again: SignInAgain) -> CommandFailure {
        if case .fail(let error) = decision { return again.meeting(error).completing(CommandFailure(error)) }
        return again.namingTenant(again.completing(.notCached("token for this")))
    }

    /// The account and client whose tokens are meant, or whose the last one was; nothing says which client an account
    /// without any is to have.
    func chosen(in store: some StoreReading, after last: HandedToken?) throws -> TokenOwner {
        guard let (account, client) = last?.owner else {
            return try store.account(filters, byClient: !token.familyTokens, at: token.authority) {
                signInAgain($0, "ID", nil, in: store)
            }
        }
        if let account = try store.account(account.id) { return (account, client) }
        let request = try? request(account, of: client, in: store)
        throw noLongerSignedIn(account, signInAgain(account, client, request, in: store))
    }

    /// Why an account that had a token gets no other one: another process has removed it.
    private func noLongerSignedIn(_ account: Account, _ again: SignInAgain) -> CommandFailure {
        let problem = "\(account.shownName) is no longer signed in"
        return again.completing(CommandFailure(.interactionRequired, problem, "sign in again"))
    }

    /// The account and client; nil if there is none, and an answer waits in a file, which an opening for writing
    /// stores.
    func selected(_ store: StoreInspection, after last: HandedToken?) throws -> TokenOwner? {
        do {
            return try chosen(in: store, after: last)
        } catch {
            guard try arguments.location.path?.pendingAnswers().isEmpty != false else { return nil }
            throw error
        }
    }
}

extension CommandFailure {
    /// The store alone does not do.
    static func notCached(_ what: String) -> CommandFailure {
        let problem = "the store has no \(what) that stays valid long enough, and --cached forbids a request"
        return CommandFailure(.network, problem, "leave --cached out")
    }
}
