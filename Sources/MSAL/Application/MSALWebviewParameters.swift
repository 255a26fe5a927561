public import Foundation
import OAuth
import SignIn
import Synchronization

/// What shows a page in the place of the system's browser, as `ASWebAuthenticationSession` does.
///
/// It returns the address that the issuer's answer came to, which begins with `callbackScheme`, or throws when the user
/// closes the page. Its task is cancelled when the sign-in ends before; a page that is still shown then is to be
/// closed.
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

/// Shows the page of one sign-in in the app's own session, and hands the answer to the application.
final class SessionAgent: UserAgent {
    let session: MSALWebSession
    let application: PublicClientApplication
    private let showing = LockedValue<Task<Void, Never>?>(nil)

    init(session: @escaping MSALWebSession, application: PublicClientApplication) {
        self.session = session
        self.application = application
    }

    func open(_ address: String) async throws {
        guard let page = URL(string: address) else { throw SignInError.noBrowser("the page is at no web address") }
        let scheme = String(application.configuration.redirectURI.text.prefix { $0 != ":" })
        let task = Task { [session, application] in
            do {
                let answer = try await session(page, scheme)
                if !application.handle(redirect: answer.absoluteString) { application.cancelSignIn(atPage: address) }
            } catch {
                // The user closed the page; the sign-in says so, if it is not over and another one under way.
                application.cancelSignIn(atPage: address)
            }
        }
        showing.withLock { $0 = task }
    }

    /// Ends the showing: the sign-in is over.
    func close() { showing.withLock(\.self)?.cancel() }
}
