package import HTTPTransport
package import OAuth
package import OpenIDConnect
package import TokenStorage

/// An issuer whose metadata and keys have been fetched: it checks ID tokens and revokes refresh tokens.
package struct Issuer: Sendable {
    package let documents: IssuerDocuments
    package let metadata: IssuerMetadata

    /// nil if the documents are cached ones, and the issuer publishes no keys or does not answer.
    private let keys: JSONWebKeySet?

    /// Fetches metadata and keys before anything is spent: between that and the commit of the tokens nothing is to take
    /// its time.
    ///
    /// - Throws: `MetadataError`, `IssuerUnavailable`, `HTTPTransportError`, `TokenStoreError`.
    package init(_ documents: IssuerDocuments) async throws {
        self.documents = documents
        metadata = try await documents.metadata()
        keys = try await documents.keys(of: metadata)
    }

    package var authority: Authority { documents.authority }
    package var transport: any HTTPTransport { documents.transport }

    /// Decodes an ID token and checks it; clocks that are not known are nil.
    ///
    /// Without keys the signature is not checked: the token came from the issuer itself over TLS, which may stand in
    /// for it (OpenID Connect Core §3.1.3.7, step 6).
    ///
    /// `willFetchKeys` runs before newer keys are requested. A caller that `canWait` is told where the key may have been
    /// published since the issuer's keys were fetched last.
    ///
    /// - Throws: `IDTokenFlaw`, and what fetching keys throws; ``UnknownKeys`` to one that can wait.
    package func checked(
        _ secret: Secret,
        by validator: IDTokenValidator,
        clocks: [Int64?],
        canWait: Bool = false,
        willFetchKeys: () async throws -> Void = {}
    ) async throws -> IDToken {
        let token: IDToken
        do {
            token = try IDToken(decoding: secret)
        } catch {
            throw IDTokenFlaw(undecodable: secret)
        }
        // Claims first: a token of another issuer or client must not cause a request.
        try validator.checkClaims(of: token, clocks: clocks.compactMap(\.self))
        do {
            if let keys { try validator.checkSignature(of: token, keys: keys) }
        } catch {
            guard error.mayBeOfOldKeys else { throw error }
            // The issuer may have begun to sign with another key, under another id or the same.
            try await willFetchKeys()
            guard let newKeys = try await keys(for: token, of: validator.clientID) else {
                // A key that is known speaks against the token; one that is not says nothing.
                guard error.code == .unknownKey else { throw error }
                return token
            }
            do {
                try validator.checkSignature(of: token, keys: newKeys.document)
            } catch {
                guard canWait, error.code == .unknownKey, let end = newKeys.end else { throw error }
                throw UnknownKeys(until: end)
            }
        }
        return token
    }

    /// The keys that a token may be signed with which the known ones do not fit: those of its client that are kept, else
    /// the issuer's as it publishes them now, else those of the client; nil if they cannot be had.
    private func keys(for token: IDToken, of clientID: String) async throws -> FetchedAnew<JSONWebKeySet>? {
        if let kept = try await documents.keptKeys(ofApp: clientID), !kept.isOutdated(for: token) {
            return FetchedAnew(kept)
        }
        let keys = try await documents.newKeys(of: metadata, for: token)
        guard let keys, keys.document.isOutdated(for: token) else { return keys }
        do {
            guard let ofApp = try await documents.keys(ofApp: clientID, besides: metadata) else { return nil }
            return ofApp.isEmpty ? keys : FetchedAnew(ofApp, end: keys.end)
        } catch let error where !(error is CancellationError) {
            // A sign-in that cannot ask for them is judged by those that it has.
            return keys
        }
    }

    /// Revokes a refresh token that must not be used, even if the task has been cancelled.
    ///
    /// - Returns: why it was not revoked; nil also if there is no token or no revocation endpoint.
    @discardableResult
    package func revoke(_ token: Secret?, clientID: String) async -> (any Error)? {
        guard let token, let url = metadata.revocationEndpoint else { return nil }
        let bounded = BoundedTransport(transport, end: .now + documents.limits.total)
        let endpoint = RevocationEndpoint(url, transport: bounded, limits: documents.limits)
        // A new task, so that a cancelled sign-in still revokes.
        switch await Task(operation: { try await endpoint.revoke(token, clientID: clientID) }).result {
        case .success: return nil
        case .failure(let error): return error
        }
    }

    /// Revokes the refresh token of a sign-in that is given up, unless the person has a session in the store already:
    /// some issuers end that too, as all that the person has at the client.
    package func giveUp(
        _ response: TokenResponse,
        of request: TokenRequest,
        unless hasSession: @escaping SessionCheck
    ) async {
        guard response.refreshToken != nil, await !hasSession(response, request) else { return }
        await revoke(response.refreshToken, clientID: request.clientID)
    }
}

/// The key of a token is not known, and the issuer's keys are not fetched again before a moment in Unix seconds.
struct UnknownKeys: Error {
    let until: Int64
}

/// Whether the person whom the response of a sign-in names has a session already.
package typealias SessionCheck = @Sendable (TokenResponse, TokenRequest) async -> Bool

extension TokenStore {
    /// Whether the person has a session here; also where the store cannot be read.
    package func mayHaveSession(besides response: TokenResponse, for request: TokenRequest) async -> Bool {
        // A new task, as the sign-in may have been cancelled.
        let found = Task { try await performRead { try $0.hasRefreshTokens(ofAccountIn: response, for: request) } }
        return switch await found.result {
        case .success(let hasTokens): hasTokens
        case .failure: true
        }
    }
}
