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
            return FetchedAnew(document: kept, end: nil)
        }
        let keys = try await documents.newKeys(of: metadata, for: token)
        guard let keys, keys.document.isOutdated(for: token) else { return keys }
        do {
            guard let ofApp = try await documents.keys(ofApp: clientID, besides: metadata) else { return nil }
            return ofApp.isEmpty ? keys : FetchedAnew(document: ofApp, end: keys.end)
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

extension Authority {
    /// Where tokens of `account` come from: what was asked for, else its home tenant or its issuer.
    ///
    /// A word such as `common` means the account's home tenant, so that no token is stored under it.
    package init(of account: Account, requested: Authority?) throws {
        guard let requested else {
            self = try Authority.home(of: account)
            return
        }
        guard requested.issuer == nil, requested.isTenantless, let tenant = account.utid else {
            self = requested
            return
        }
        self = requested.replacing(tenant: tenant.lowercased())
    }

    /// The user flow of a tenant whose issuer is `https://HOST/TENANT/v2.0/`; nil for any other issuer.
    private init?(tenantIssuer issuer: String, userFlow: String?) {
        guard let userFlow, let flow = try? Authority(parsing: issuer, userFlow: userFlow), let tenant = flow.tenant,
            ClientInfo.isTenantID(tenant),
            ["", "/"].contains(where: { issuer == "\(flow.scheme)://\(flow.environment)/\(tenant)/v2.0\($0)" })
        else { return nil }
        self = flow
    }

    /// The authority of the account's user flow, its home tenant or, without either, its issuer.
    private static func home(of account: Account) throws -> Authority {
        if account.id.hasIssuer {
            // Without client_info an account of a user flow at a customer's domain is known by its issuer, whose
            // address has the tenant alone.
            let flow = Authority(tenantIssuer: account.id.issuer, userFlow: account.userFlow)
            return try flow ?? Authority(issuer: account.id.issuer)
        }
        let host = homeHost(of: account)
        if let flow = recordedFlow(of: account, at: host) { return flow }
        let base = "\(scheme(of: account, at: host))://\(host)"
        // The tenants that a guest was seen in are not used: deleting a row could send a refresh token elsewhere.
        let tenant = account.utid ?? account.tenantProfiles.first?.tenantID
        if let tenant, let userFlow = account.userFlow {
            return try Authority(parsing: "\(base)/tfp/\(tenant)/\(userFlow)")
        }
        if let tenant, !tenant.isEmpty { return try Authority(parsing: "\(base)/\(tenant)") }
        return try Authority(issuer: account.issuer ?? base)
    }

    /// The host, and its port where it names one, that the account's tokens come from.
    private static func homeHost(of account: Account) -> String {
        let group = account.id.issuer
        // A host that shares accounts with no other names its port, which an imported row may have dropped. One of
        // another group was in a row that came from elsewhere.
        let isOfGroup = Cloud.contains(group) && Cloud.group(of: account.environment).hasSameBytes(as: group)
        return isOfGroup ? account.environment : group
    }

    /// Only a development issuer on loopback is without TLS, and its tokens say so.
    private static func scheme(of account: Account, at host: String) -> String {
        let isOpen = account.issuer?.lowercased().hasPrefix("http://") ?? false
        let isLoopback = HostAndPort(host, usualPort: 443)?.isLoopback ?? false
        return isOpen && isLoopback ? "http" : "https"
    }

    /// The user flow that the recorded issuer names, for an account without a tenant.
    ///
    /// A sign-in by the address of the issuer recorded the flow there alone in an earlier version, and a refresh writes
    /// it into the account beside a tenant that is none.
    private static func recordedFlow(of account: Account, at host: String) -> Authority? {
        guard account.utid == nil, let issuer = account.issuer, let named = try? Authority(issuer: issuer),
            let userFlow = named.userFlow, account.userFlow.map({ $0.folded == userFlow.folded }) ?? true,
            named.environment == host
        else { return nil }
        return named
    }
}
