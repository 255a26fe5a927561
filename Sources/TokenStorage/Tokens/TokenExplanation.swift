import Database
package import OAuth
import SQL

extension StoreReading {
    /// The access tokens of an account, at most a few dozen, with the reason each answers `query` or does not.
    package func consideredTokens(for query: TokenQuery) throws -> [AccessTokenExplanation] {
        try read { session in try session.connection.read { try session.consideredTokens(query) } }
    }
}

extension StoreConnection {
    /// How many tokens an explanation names.
    private static let explained = 50

    fileprivate func consideredTokens(_ query: TokenQuery) throws -> [AccessTokenExplanation] {
        let (tenant, boundKey) = (try tenant(query), try boundQuery(query)?.keyID)
        let isSignedOut = try signInState(of: query.account, client: query.clientID) == .signedOut
        var considered: [AccessTokenExplanation] = []
        var best: (index: Int, candidate: AccessTokenCandidate)?
        try forEachAccessToken(of: query.account) { row in
            let candidate = AccessTokenCandidate(
                row,
                scope: query.scope.foldedText,
                acceptsDeclined: query.acceptsDeclined,
                buffer: query.buffer,
                now: now
            )
            let signedOut = isSignedOut ? "the account has signed out" : nil
            let mismatch = mismatch(row, query, tenant: tenant, boundKey) ?? signedOut
            if let reason = mismatch ?? failure(candidate, row, query) {
                considered.append(token(row, isTaken: false, reason))
                return
            }
            considered.append(token(row, isTaken: false, "another fits better"))
            guard let candidate, best.map({ candidate.outranks($0.candidate) }) ?? true else { return }
            best = (considered.count - 1, candidate)
        }
        if let (index, candidate) = best {
            let reason = candidate.isAging ? "fits, and is worth refreshing" : "fits best"
            let declined = query.scope.missing(from: considered[index].scope).text
            considered[index] = considered[index].taken(
                declined.isEmpty ? reason : "\(reason), without \(declined), which the issuer declined"
            )
        }
        // The answer is among those that are named, however many end later.
        let rest = considered.dropFirst(Self.explained).filter(\.isTaken)
        return considered.prefix(Self.explained) + rest
    }

    private static let tokensOfAccount = SealedTable.accessToken.ownedRows { dialect in
        """
        WHERE \(dialect.account("a", key: "?1", authority: "?2", rows: 3, owners: ["t.account_id"]))
        ORDER BY t.expires_on DESC, t.id DESC
        """
    }

    /// Calls `body` with the access tokens of an account, the one that ends last first.
    private func forEachAccessToken(of account: Account.ID, _ body: (Row) throws -> Void) throws {
        let values = values(.text(account.key), .text(account.issuer), of: account)
        try connection.forEach(Self.tokensOfAccount, values, body: body)
    }

    private func token(_ row: Row, isTaken: Bool, _ reason: String) -> AccessTokenExplanation {
        AccessTokenExplanation(
            clientID: row.text(AccessTokenColumn.clientID),
            scope: Scope(row.text(AccessTokenColumn.target)),
            tokenType: row.text(AccessTokenColumn.tokenType).isEmpty ? "Bearer" : row.text(AccessTokenColumn.tokenType),
            expiresOn: row.integer(AccessTokenColumn.expiresOn),
            isTaken: isTaken,
            reason: reason
        )
    }

    private func mismatch(_ row: Row, _ query: TokenQuery, tenant: String?, _ boundKey: String?) -> String? {
        if row.text(AccessTokenColumn.clientFold) != query.clientID.folded {
            return "of client \(row.text(AccessTokenColumn.clientID))"
        }
        if let tenant, row.text(AccessTokenColumn.realmFold) != tenant {
            return "of tenant \(row.text(AccessTokenColumn.realmFold))"
        }
        let type = row.text(AccessTokenColumn.tokenTypeFold)
        let isBound = type == "dpop" && boundKey != nil
        guard isBound || type == AccessTokenRow.fold(tokenType: query.tokenType) && !query.requiresDPoP else {
            return "of type \(type == "bearer" ? "Bearer" : row.text(AccessTokenColumn.tokenType))"
        }
        let key = isBound ? boundKey : query.keyID
        if row.text(AccessTokenColumn.keyID) != key ?? "" { return "bound to another key" }
        let variant = query.requestedClaims == nil ? "" : TokenVariant(requestedClaims: query.requestedClaims).text
        if row.text(AccessTokenColumn.variant) == variant { return nil }
        return "issued for other claims, or to a web API on behalf of its user"
    }

    private func failure(_ candidate: AccessTokenCandidate?, _ row: Row, _ query: TokenQuery) -> String? {
        guard let candidate else {
            let missing = query.scope.missing(from: Scope(row.text(AccessTokenColumn.target))).text
            return missing.isEmpty ? "granted for another scope" : "lacks \(missing)"
        }
        guard query.scope.isMet(by: Scope(row.text(AccessTokenColumn.target))) else {
            return "is for an API, and none was asked for"
        }
        if candidate.expiresOn <= now { return "has ended" }
        if candidate.isFromTheFuture { return "was stored in the future, so a clock is or was wrong" }
        return candidate.isUsable ? nil : "ends too soon"
    }
}

/// A stored access token and why it is, or is not, the answer to a query.
package struct AccessTokenExplanation: Sendable {
    package let clientID: String
    package let scope: Scope
    package let tokenType: String

    /// Unix seconds.
    package let expiresOn: Int64
    package let isTaken: Bool

    /// A few words, such as `has ended`.
    package let reason: String

    /// The same token, as the answer.
    func taken(_ reason: String) -> AccessTokenExplanation {
        AccessTokenExplanation(
            clientID: clientID,
            scope: scope,
            tokenType: tokenType,
            expiresOn: expiresOn,
            isTaken: true,
            reason: reason
        )
    }
}
