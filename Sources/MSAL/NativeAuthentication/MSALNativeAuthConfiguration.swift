public import Foundation
import OAuth
import SignIn
import Synchronization

/// What a native app is registered as, and what it can do.
public final class MSALNativeAuthPublicClientApplicationConfig: MSALPublicClientApplicationConfig {
    private let challengeTypes: MSALNativeAuthChallengeTypes

    /// What the app can do beyond a first factor.
    public var capabilities: MSALNativeAuthCapabilities = []

    /// Adds headers to every request of native authentication.
    public var requestInterceptor: (any MSALNativeAuthRequestInterceptor)?

    /// A client of a tenant.
    public init(clientId: String, authority: MSALAuthority, challengeTypes: MSALNativeAuthChallengeTypes) {
        self.challengeTypes = challengeTypes
        super.init(clientId: clientId, redirectUri: nil, authority: authority)
    }

    /// A client of the tenant `tenantSubdomain.ciamlogin.com`.
    ///
    /// - Throws: `NSError` of ``MSALErrorDomain`` with ``MSALInternalError/invalidParameter``.
    public init(clientId: String, tenantSubdomain: String, challengeTypes: MSALNativeAuthChallengeTypes) throws {
        self.challengeTypes = challengeTypes
        do {
            let native = try NativeAuthConfiguration(clientID: clientId, tenantSubdomain: tenantSubdomain)
            super.init(clientId: clientId, redirectUri: nil, authority: try MSALAuthority(native.authority))
        } catch {
            throw NSError.msal(error)
        }
    }

    /// What another configuration says, with challenge types.
    convenience init(_ other: MSALPublicClientApplicationConfig, _ challengeTypes: MSALNativeAuthChallengeTypes) {
        self.init(clientId: other.clientId, authority: other.authority, challengeTypes: challengeTypes)
        redirectUri = other.redirectUri
        knownAuthorities = other.knownAuthorities
        extendedLifetimeEnabled = other.extendedLifetimeEnabled
        clientApplicationCapabilities = other.clientApplicationCapabilities
        tokenExpirationBuffer = other.tokenExpirationBuffer
        storePath = other.storePath
        guard let native = other as? MSALNativeAuthPublicClientApplicationConfig else { return }
        capabilities = native.capabilities
        requestInterceptor = native.requestInterceptor
    }

    func native() throws -> NativeAuthConfiguration {
        var native = try NativeAuthConfiguration(
            clientID: clientId,
            authority: authority.authority,
            challengeTypes: challengeTypes
        )
        native.capabilities = capabilities
        native.redirectURI = try redirectUri.map { try RedirectURI($0) }
        native.tokenOptions = tokenOptions
        native.interceptor = requestInterceptor.map(HeaderAdapter.init)
        return native
    }
}

/// Takes the headers of a request, or nil.
public typealias MSALNativeAuthRequestInterceptorAddHeaderCompletionBlock = @Sendable ([String: String]?) -> Void

/// Adds headers to the requests of native authentication.
public protocol MSALNativeAuthRequestInterceptor: AnyObject, Sendable {
    /// Names the headers to add to a request to `requestUrl`; a `completionBlock` that is let go uncalled
    /// names none.
    ///
    /// Names begin with `x-`, and not with `x-ms-`, `x-client-`, `x-broker-` or `x-app-`; others are left out with a
    /// warning in the log.
    func addAdditionalHeaderFields(
        _ requestUrl: URL?,
        completionBlock: @escaping MSALNativeAuthRequestInterceptorAddHeaderCompletionBlock
    )
}

/// Asks an interceptor of MSAL.
private struct HeaderAdapter: RequestInterceptor {
    let interceptor: any MSALNativeAuthRequestInterceptor

    func headers(for url: String) async -> [String: String] {
        await withCheckedContinuation { continuation in
            let answer = HeaderAnswer(continuation)
            interceptor.addAdditionalHeaderFields(URL(string: url)) { answer.give($0 ?? [:]) }
        }
    }
}

/// The headers that an interceptor names: the first ones count, and none where its block is dropped uncalled.
private final class HeaderAnswer: Sendable {
    private let waiter: LockedValue<CheckedContinuation<[String: String], Never>?>

    init(_ waiter: CheckedContinuation<[String: String], Never>) { self.waiter = LockedValue(waiter) }

    deinit { give([:]) }

    func give(_ headers: [String: String]) {
        let waiter = waiter.withLock { $0.take() }
        waiter?.resume(returning: headers)
    }
}
