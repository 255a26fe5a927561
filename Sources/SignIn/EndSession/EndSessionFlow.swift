package import HTTPTransport
package import OAuth
import OpenIDConnect
public import TokenManagement
package import TokenStorage

/// Has an issuer end the session that it keeps in a person's browser
/// ([RP-Initiated Logout](https://openid.net/specs/openid-connect-rpinitiated-1_0.html)).
package struct EndSessionFlow: Sendable {
    private let redirectURI: RedirectURI
    private let store: TokenStore
    private let transport: any HTTPTransport

    /// The limits of each request to the issuer.
    package var limits = HTTPLimits.issuer

    /// How long the person may take.
    package var timeLimit = Duration.seconds(60)

    package init(redirectURI: RedirectURI, store: TokenStore, transport: any HTTPTransport) {
        self.redirectURI = redirectURI
        self.store = store
        self.transport = transport
    }

    /// Shows the issuer's logout page in `userAgent` and waits until it comes back.
    package func run(
        _ session: EndingSession,
        in userAgent: some UserAgent,
        _ pendingRedirect: PendingRedirect = PendingRedirect(state: .random())
    ) async -> BrowserSessionReport {
        var report = BrowserSessionReport(outcome: .notShown)
        do {
            guard let endpoint = try await self.endpoint(for: session.account) else {
                return BrowserSessionReport(outcome: .notOffered)
            }
            report.address = session.address(at: endpoint)
            // Also where the app is handed the answer: the start address keeps the ID token out of sight.
            let place = redirectURI.isLoopback ? redirectURI : .anyPort
            guard let listener = try await RedirectListener(place, .query, pendingRedirect, endsSession: true) else {
                return report
            }
            let uri = redirectURI.isLoopback ? listener.redirectURI : redirectURI.text
            let form = session.form(returningTo: uri, state: pendingRedirect.state)
            do {
                let page = form.address(of: endpoint)
                guard let start = listener.start(leadingTo: page) else {
                    throw MetadataError.incomplete("end_session_endpoint at a web address")
                }
                try await userAgent.open(page, startingAt: start)
                report.outcome = .notConfirmed
                let answer = try await pendingRedirect.answer(within: timeLimit)
                if let refusal = answer.refusal {
                    report.reason = form.redacting(refusal).problem
                } else {
                    report = BrowserSessionReport(outcome: .ended)
                }
            } catch {
                report.reason = form.redacting(Self.reason(of: error))
            }
            await listener.stop()
        } catch {
            report.reason = "\(error)"
        }
        return report
    }

    /// The address of the issuer's logout page; nil if it has none.
    private func endpoint(for account: Account) async throws -> String? {
        let authority = try Authority(of: account, requested: nil)
        let documents = IssuerDocuments(of: authority, cachedIn: store, transport: transport, limits: limits)
        return try await documents.endpoint(\.endSessionEndpoint)
    }

    /// Why the session may still be there after `error`.
    private static func reason(of error: any Error) -> String {
        switch (error as? SignInError)?.code {
        case .timedOut?: "the issuer's page did not come back within the time limit"
        case .cancelled?: "the issuer's page was no longer waited for"
        case .stateMismatch?: "the issuer's page came back without the state that it was asked to repeat"
        default: "\(error)"
        }
    }
}

/// The session of an account at an issuer, as it was before the account was signed out here.
package struct EndingSession: Sendable {
    package let account: Account
    private let clientID: String

    /// Tells the issuer whose session it is; without one it asks the person.
    private let idToken: Secret?

    /// Takes the newest ID token that the account has of one of `clients`.
    ///
    /// - Throws: `TokenStoreError`.
    package init?(of account: Account, clients: [String], in store: TokenStore) throws {
        guard let first = clients.first else { return nil }
        self.account = account
        for client in clients {
            guard let token = try Self.idToken(of: account.id, client: client, in: store) else { continue }
            (clientID, idToken) = (client, token)
            return
        }
        (clientID, idToken) = (first, nil)
    }

    /// One that was altered must not keep anyone from signing out.
    private static func idToken(of account: Account.ID, client: String, in store: TokenStore) throws -> Secret? {
        do {
            return try store.idTokens(of: account, client: client).first?.idToken.secret
        } catch let error as TokenStoreError where error.code == .damaged {
            return nil
        }
    }

    /// The logout page for a person to open, without a token in it.
    func address(at endpoint: String) -> String {
        var form = FormParameters()
        form.append("client_id", clientID)
        form.append("logout_hint", account.loginHint)
        return form.address(of: endpoint)
    }

    /// What the logout page that comes back to `uri` is asked; no answer may show the ID token or the state.
    func form(returningTo uri: String, state: Secret) -> FormParameters {
        var form = FormParameters()
        form.append("id_token_hint", idToken)
        form.append("client_id", clientID)
        form.append("post_logout_redirect_uri", uri)
        form.append("state", state)
        return form
    }
}

/// What became of the session that the issuer keeps in the person's browser.
public struct BrowserSessionReport: Hashable, Sendable {
    /// How far it went.
    public enum Outcome: String, Sendable {
        /// The issuer's page came back.
        case ended

        /// The issuer's page was shown and did not come back in time.
        case notConfirmed = "not_confirmed"

        /// The page could not be shown.
        case notShown = "not_shown"

        /// The issuer has no page for it.
        case notOffered = "not_offered"
    }

    /// What became of the session in the browser.
    public internal(set) var outcome: Outcome

    /// Why the session may still be there, for a person to read.
    public internal(set) var reason: String?

    /// The page where the person can end what is left; it has no token in it, so the issuer may ask.
    public internal(set) var address: String?
}

/// What became of a session that was ended at the issuer, here and in the browser.
public struct EndSessionReport: Hashable, Sendable {
    /// What became of the refresh tokens.
    public let signOut: SignOutReport

    /// What became of the session in the browser.
    public let browser: BrowserSessionReport
}
