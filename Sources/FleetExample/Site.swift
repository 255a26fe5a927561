import Foundation
import Hummingbird
import TokenStoreKit

/// The app's addresses: its page, sign-in and its way back, what the API says, and sign-out.
struct Site: Sendable {
    private static let signInTime = Duration.seconds(600)

    let application: PublicClientApplication
    let api: WebAPI
    let cookies: SealedCookies
    let sessions: Sessions

    /// Which process this is, to see who answers.
    let node: String

    func addRoutes(to router: Router<BasicRequestContext>) {
        router.add(middleware: PageHeaders())
        router.add(middleware: ErrorPages(node: node))
        router.get("/") { request, _ in try await home(request) }
        router.get("login") { _, _ in try await login() }
        router.get("callback") { request, _ in try await callback(request) }
        router.get("me") { request, _ in try await me(request) }
        router.post("logout") { request, _ in try await logout(request) }
    }

    private func home(_ request: Request) async throws -> Response {
        guard let (session, account) = try await sessions.find(in: request) else {
            return Page(title: "Signed out", body: #"<p><a href="/login">Sign in</a></p>"#, node: node).response()
        }
        let form = """
            <p><a href="/me">Call the API</a></p>
            <form method="post" action="/logout">
            <input type="hidden" name="token" value="\(cookies.formToken(of: session))"><button>Sign out</button></form>
            """
        return Page(title: "Signed in as \(account.name ?? account.username)", body: form, node: node).response()
    }

    /// Sends the browser to the issuer; what the way back needs goes along in a cookie, whichever process that leads
    /// to.
    private func login() async throws -> Response {
        var request = InteractiveRequest(scope: api.scope)
        request.timeLimit = Self.signInTime
        let (address, pending) = try await application.beginSignIn(request)
        var response = Response.redirect(to: address, type: .found)
        let contents = Data(pending.secret.reveal().utf8)
        response.setCookie(try cookies.cookie(.signIn, contents, seconds: Int(Self.signInTime.components.seconds)))
        return response
    }

    /// Finishes a sign-in that began in this browser, at this process or another.
    private func callback(_ request: Request) async throws -> Response {
        guard let contents = cookies.contents(.signIn, of: request) else {
            throw HTTPError(.badRequest, message: "No sign-in was begun in this browser, or it took too long.")
        }
        let pending = try PendingAuthorization(Secret(String(decoding: contents, as: UTF8.self)))
        let result = try await application.finishSignIn(pending, answer: request.uri.query ?? "")
        var response = Response.redirect(to: "/")
        response.setCookie(try await sessions.begin(for: result.account, in: request))
        response.setCookie(cookies.removal(of: .signIn))
        return response
    }

    /// Calls the API for who is signed in; a token that has ended is refreshed once in the whole fleet.
    private func me(_ request: Request) async throws -> Response {
        guard let (_, account) = try await sessions.find(in: request) else {
            throw HTTPError(.unauthorized, message: "Nobody is signed in.")
        }
        let answer = try await application.transport(to: api, as: account).json()
        return Page(title: "The API says", body: "<pre>\(answer.serialized.escaped)</pre>", node: node).response()
    }

    /// Ends every session of the account, at the issuer too.
    private func logout(_ request: Request) async throws -> Response {
        var response = Response.redirect(to: "/")
        response.setCookie(cookies.removal(of: .session))
        guard let (session, account) = try await sessions.find(in: request) else { return response }
        let body = try await request.body.collect(upTo: 4_096)
        let form = try? URLEncodedFormDecoder().decode([String: String].self, from: String(buffer: body))
        // The cookie comes along with whatever a page of a neighbouring port sends; this does not.
        guard let token = form?["token"], cookies.isFormToken(token, of: session) else {
            throw HTTPError(.forbidden, message: "This form is not of this session.")
        }
        try await sessions.endAll(of: account)
        try await application.signOut(account)
        return response
    }
}
