import Database
package import OAuth

/// The refresh tokens of an account that can be revoked.
package struct RevocableTokens: Sendable {
    package fileprivate(set) var tokens: [StoredRefreshToken] = []

    /// The clients with one that was altered, or whose account was, which says where tokens are sent.
    package fileprivate(set) var damagedClients: [String] = []
}

extension StoreReading {
    /// The refresh tokens of an account that can be revoked: those that open.
    package func revocableTokens(of account: Account.ID, clients: [String]) throws -> RevocableTokens {
        try read { session in
            try session.connection.read {
                // Before anything is revoked.
                let row = try session.confirmedAccountRow(account)
                try session.requireAllTokensFound(of: [row].compactMap(\.self))
                return try session.revocableTokens(of: account, clients: clients)
            }
        }
    }
}

extension StoreReading {
    /// Whether the client of a sign-in has refresh tokens already of the account that the response names, which the
    /// issuer has not ended.
    package func hasRefreshTokens(ofAccountIn response: TokenResponse, for request: TokenRequest) throws -> Bool {
        let identity: ResponseIdentity
        do {
            identity = try ResponseIdentity(response, request: request)
        } catch {
            return false
        }
        // A store that is yet to be made has none, and a read would make it.
        if let path = location.path, FileStatus.isAbsent(path.database), FileStatus.isAbsent(path.log) { return false }
        return try read { session in
            try session.connection.read {
                guard let account = try session.filed(identity).account?.id else { return false }
                let tokens = try session.refreshTokens(of: account, client: request.clientID, family: nil)
                return try tokens.contains { try session.attempt($0)?.hasEnded != true }
            }
        }
    }
}

extension StoreConnection {
    /// A token that does not open is left out, and its client named.
    func revocableTokens(of account: Account.ID, clients: [String]) throws -> RevocableTokens {
        var found = RevocableTokens()
        for client in clients {
            if let tokens = try intact({ try refreshTokens(of: account, client: client, family: nil) }) {
                found.tokens += tokens
                continue
            }
            found.damagedClients.append(client)
            found.tokens +=
                try intact {
                    try refreshTokens(of: account, client: client, family: nil, leavingOutDamaged: true)
                } ?? []
        }
        return found
    }
}

extension TokenStoreError {
    /// The error of a sign-out that came after the issuer had ended the session.
    package func afterRevocation() -> TokenStoreError {
        var error = self
        let ended = "the issuer ended the session, but the account could not be deleted here"
        error.problem = "\(ended): \(problem)".boundedSentence
        return error
    }
}
