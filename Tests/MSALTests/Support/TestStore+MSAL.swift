import HTTPTransport
import MSAL
import OAuth
import SignIn
import TestSupport
import TokenStorage

extension TestStore {
    /// An application of MSAL's names over this store; no test signs anybody in with it.
    @MainActor
    func application(at authority: Authority) throws -> MSALPublicClientApplication {
        let configuration = try PublicClientConfiguration(
            clientID: Fixture.client,
            redirectURI: .anyPort,
            authority: authority
        )
        let application = try PublicClientApplication(
            configuration,
            store: store,
            transport: AsyncHTTPTransport(),
            userAgent: SystemBrowser(environment: [:])
        )
        return try MSALPublicClientApplication(application)
    }
}
