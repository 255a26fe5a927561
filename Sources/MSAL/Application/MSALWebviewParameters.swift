public import Foundation
import SignIn

/// What shows a page in the place of the system's browser, as `ASWebAuthenticationSession` does: it returns the address
/// that the issuer's answer came to, which begins with `callbackScheme`, or throws when the user closes the page.
public typealias MSALWebSession = @MainActor @Sendable (_ page: URL, _ callbackScheme: String) async throws -> URL

/// What MSAL takes view controllers for; the system's browser needs none, so any object will do.
public typealias MSALViewController = AnyObject

/// How the issuer's pages are shown.
public final class MSALWebviewParameters {
    /// Kept for the app's own ``session``; this module does not use it.
    public var parentViewController: MSALViewController

    /// Without effect: the page is shown by ``session``, else by the system's browser.
    public var webviewType = MSALWebviewType.default

    /// Kept for the app's own ``session``; this module does not use it.
    public var prefersEphemeralWebBrowserSession = false

    /// Shows the page; nil: the system's browser.
    public var session: MSALWebSession?

    /// The page is shown over `parentViewController` where ``session`` does so.
    public init(authPresentationViewController parentViewController: MSALViewController) {
        self.parentViewController = parentViewController
    }
}

/// The ways of MSAL to show a page, which are all the same here.
public enum MSALWebviewType: Int, Sendable {
    /// What suits the platform.
    case `default`

    /// `ASWebAuthenticationSession`.
    case authenticationSession

    /// `SFSafariViewController`.
    case safariViewController

    /// `WKWebView`.
    case wkWebView
}

/// Shows pages in the app's own session, and hands the answer to the application.
struct SessionAgent: UserAgent {
    let session: MSALWebSession
    let application: PublicClientApplication

    func open(_ address: String) async throws {
        guard let page = URL(string: address) else { throw SignInError.noBrowser("the page is at no web address") }
        let scheme = String(application.configuration.redirectURI.text.prefix { $0 != ":" })
        Task {
            do {
                let answer = try await session(page, scheme)
                if !application.handle(redirect: answer.absoluteString) { application.cancelSignIn() }
            } catch {
                // The user closed the page; the sign-in says so.
                application.cancelSignIn()
            }
        }
    }
}
