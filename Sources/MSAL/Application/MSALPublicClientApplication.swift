public import Foundation
import OAuth
import OpenIDConnect
package import SignIn
import Synchronization
import TokenManagement
import TokenStorage

/// Takes a token or an `NSError`, of which one is nil.
public typealias MSALCompletionBlock = @MainActor @Sendable (MSALResult?, (any Error)?) -> Void

/// An app that signs users in without a client secret, and keeps their sessions.
///
/// Every error is an `NSError` of ``MSALErrorDomain`` whose code is an ``MSALError``. Completion blocks run on the main
/// actor.
///
/// `@unchecked Sendable`, because a class with a subclass cannot be checked: its three properties are constants of
/// `Sendable` types, its one subclass adds another such constant, and no other module can add a subclass.
public class MSALPublicClientApplication: @unchecked Sendable {
    package let application: PublicClientApplication
    private let authority: MSALAuthority
    private let knownAuthorities: [MSALAuthority]

    package init(_ application: PublicClientApplication) throws {
        self.application = application
        authority = try MSALAuthority(application.configuration.authority)
        knownAuthorities = try application.configuration.knownAuthorities.map { try MSALAuthority($0) }
    }

    /// Opens the store and makes the application.
    public convenience init(configuration: MSALPublicClientApplicationConfig) throws {
        try self.init(Self.make(configuration))
    }

    /// A client of any tenant of Microsoft Entra ID.
    public convenience init(clientId: String) throws {
        try self.init(configuration: MSALPublicClientApplicationConfig(clientId: clientId))
    }

    private static func make(_ configuration: MSALPublicClientApplicationConfig) throws -> PublicClientApplication {
        do {
            let usual = Surroundings.current
            return try PublicClientApplication(
                configuration.client(),
                store: try configuration.openStore(),
                transport: usual.transport,
                userAgent: usual.userAgent
            )
        } catch {
            throw NSError.msal(error)
        }
    }

    /// What the application was made with; a change of it changes nothing here.
    public var configuration: MSALPublicClientApplicationConfig {
        let client = application.configuration
        let copy = MSALPublicClientApplicationConfig(
            clientId: client.clientID,
            redirectUri: client.redirectURI.text,
            authority: authority
        )
        copy.knownAuthorities = knownAuthorities
        copy.extendedLifetimeEnabled = client.tokenOptions.allowsExtendedLifetime
        copy.clientApplicationCapabilities = client.tokenOptions.clientCapabilities
        copy.tokenExpirationBuffer = client.tokenOptions.buffer.longest / .seconds(1)
        copy.storePath = application.store.location.fullDescription
        return copy
    }

    /// Signs a user in at the issuer's pages.
    public func acquireToken(
        with parameters: MSALInteractiveTokenParameters,
        completionBlock: @escaping MSALCompletionBlock
    ) {
        let (request, session) = (parameters.request, parameters.webviewParameters.session)
        let id = parameters.correlationId
        deliver(to: completionBlock) { try await self.acquireToken(request, in: session, id) }
    }

    /// The same without a completion block.
    public nonisolated(nonsending) func acquireToken(
        with parameters: MSALInteractiveTokenParameters
    ) async throws -> MSALResult {
        let session = parameters.webviewParameters.session
        return try await acquireToken(parameters.request, in: session, parameters.correlationId)
    }

    /// Returns a token from the store, or with a refresh token; never asks the user.
    public func acquireTokenSilent(
        with parameters: MSALSilentTokenParameters,
        completionBlock: @escaping MSALCompletionBlock
    ) {
        let (request, id) = (Result { try parameters.request() }, parameters.correlationId)
        deliver(to: completionBlock) { try await self.acquireTokenSilent(request.get(), id) }
    }

    /// The same without a completion block.
    public nonisolated(nonsending) func acquireTokenSilent(
        with parameters: MSALSilentTokenParameters
    ) async throws -> MSALResult {
        try await acquireTokenSilent(parameters.request(), parameters.correlationId)
    }

    /// Takes the address that the system opened the app with.
    ///
    /// - Returns: whether it is the answer to a sign-in that is under way.
    @discardableResult
    public static func handleMSALResponse(_ response: URL, sourceApplication: String?) -> Bool {
        runningSignIns.withLock(\.self).contains { $0.handle(redirect: response.absoluteString) }
    }

    /// Ends every sign-in that is under way, with ``MSALError/userCanceled``.
    ///
    /// - Returns: whether there was one.
    @discardableResult
    public static func cancelCurrentWebAuthSession() -> Bool {
        runningSignIns.withLock(\.self).map { $0.cancelSignIn() }.contains(true)
    }

    /// The applications whose user is at a page.
    private static let runningSignIns = LockedValue<[PublicClientApplication]>([])

    private func acquireToken(
        _ request: InteractiveRequest,
        in session: MSALWebSession?,
        _ id: UUID?
    ) async throws -> MSALResult {
        Self.runningSignIns.withLock { $0.append(application) }
        defer {
            Self.runningSignIns.withLock { running in
                if let place = running.firstIndex(where: { $0 === application }) { running.remove(at: place) }
            }
        }
        return try await translatingErrors {
            let agent = session.map { SessionAgent(session: $0, application: application) }
            defer { agent?.close() }
            let result = try await application.acquireToken(request, in: agent)
            let client = application.configuration.clientID
            // The user is signed in, also where the store cannot tell what it has of other tenants.
            let stored = try? await application.store.performRead {
                try $0.idTokens(of: result.account.id, client: client).map(\.idToken.claims)
            }
            return try MSALResult(result, others: stored ?? [], correlationID: id)
        }
    }

    private func acquireTokenSilent(_ request: SilentRequest, _ id: UUID?) async throws -> MSALResult {
        try await translatingErrors {
            let token = try await application.acquireTokenSilently(request)
            let client = application.configuration.clientID
            let (account, idTokens) = try await application.store.performRead { store in
                (try store.account(request.account), try store.idTokens(of: request.account, client: client))
            }
            guard let account else { throw AcquisitionError.interactionRequired(.signedOut) }
            // The account may not say which it is, and the token is good all the same.
            let configuration = application.configuration
            let own = (try? configuration.authority(for: account)) ?? configuration.authority
            return try MSALResult(
                token,
                of: account,
                idToken: idTokens.first { $0.isOf(token.accessToken, of: account) }?.idToken,
                claims: idTokens.map(\.idToken.claims),
                authority: request.authority ?? own,
                correlationID: id
            )
        }
    }
}

extension StoredIDToken {
    /// Whether it is of the tenant that an access token of its account is of.
    fileprivate func isOf(_ token: AccessToken, of account: Account) -> Bool {
        let tenant = Authority.isTenantless(token.tenantID) ? account.utid ?? "" : token.tenantID
        // An imported row may name a tenant by a domain, and issuers other than Microsoft's have but one.
        guard Cloud.hasTenants(account.id.issuer), ClientInfo.isTenantID(tenant) else { return true }
        return tenantID.lowercased() == tenant.lowercased()
    }
}

/// Runs `body`, whose errors become MSAL's.
func translatingErrors<Value>(_ body: () async throws -> Value) async throws -> Value {
    do {
        return try await body()
    } catch let error as NSError where error.domain == MSALErrorDomain {
        throw error
    } catch {
        throw NSError.msal(error)
    }
}

/// Runs `work`, and hands its end to `block` on the main actor.
func deliver<Value: Sendable>(
    to block: @escaping @MainActor @Sendable (Value?, (any Error)?) -> Void,
    _ work: @escaping @Sendable () async throws -> Value
) {
    Task {
        do {
            await block(try await work(), nil)
        } catch {
            await block(nil, error)
        }
    }
}
