import OAuth
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension TokenAcquisition {
    func idToken(on console: Console, after last: HandedToken?) throws -> HandedToken {
        guard try !arguments.isVacant else { throw try CommandFailure.noStore(at: arguments.location) }
        if !token.forceRefresh, token.claims == nil {
            let found = try arguments.fromStandbyIfNeeded(console) { try storedIDToken(after: last, decides: $0) }
            if let found { return found }
        }
        guard !token.cached else {
            throw CommandFailure.notCached("ID token")
        }
        let store = try arguments.open(console)
        defer { store.close() }
        let (account, client) = try chosen(in: store, after: last)
        let renewed = try renewedIDToken(of: (account, client), in: store, isRepeated: last != nil, console)
        if let renewed, let end = token.end(of: renewed, lasting: 1) {
            return try handed(renewed, ending: end, of: (account, client), .refresh, in: store)
        }
        // The issuer need not send a new one (OpenID Connect Core §12.2).
        if let (stored, end) = try token.storedIDToken(of: account, client, filters, in: store, lasting: 1) {
            return try handed(stored, ending: end, of: (account, client), .cache, in: store)
        }
        let who = renewed == nil ? "the issuer sent no new ID token, and the stored one" : "the new ID token"
        let failure = CommandFailure(.interactionRequired, "\(who) is not good for long enough", "sign in again")
        let request = try request(account, of: client, in: store)
        throw signInAgain(account, client, request, in: store).completing(failure)
    }

    /// The ID token that a refresh brings; nil if the issuer sends none.
    private func renewedIDToken(
        of owner: TokenOwner,
        in store: TokenStore,
        isRepeated: Bool,
        _ console: Console
    ) throws -> IDToken? {
        var renewing = self
        renewing.token.forceRefresh = true
        // Meant for the ID token, not for the access token that comes with it.
        renewing.token.minTTL = 0
        do {
            let result = try renewing.acquire(of: owner, in: store, isRepeated: isRepeated, console)
            try tell(result, console)
            return result.idToken
        } catch let error as AcquisitionError where error.idToken != nil {
            return error.idToken
        }
    }

    /// The newest ID token, if it is good for as long as is asked for.
    private func storedIDToken(after last: HandedToken?, decides: Bool) throws -> HandedToken? {
        guard let store = try arguments.inspected(decides: decides),
            let (account, client) = try selected(store, after: last)
        else { return nil }
        guard let (idToken, end) = try token.storedIDToken(of: account, client, filters, in: store) else { return nil }
        return try handed(idToken, ending: end, of: (account, client), .cache, in: store)
    }

    /// An ID token, which outlives the session no more than an access token does.
    private func handed(
        _ idToken: IDToken,
        ending end: Date,
        of owner: TokenOwner,
        _ source: TokenResult.Source,
        in store: some UsableTokenReading
    ) throws -> HandedToken {
        let request = try request(owner.account, of: owner.client, in: store)
        let decider = TokenDecider(store: store, clientID: owner.client, options: token.options(network, arguments))
        do {
            return try HandedToken(idToken, ending: decider.limited(end, request), of: owner, source)
        } catch let error as AcquisitionError {
            let again = signInAgain(owner.account, owner.client, request, in: store)
            throw again.meeting(error).completing(CommandFailure(error))
        }
    }
}
