import OAuth
import SignIn

/// A sign-in on the terminal, which goes on in a browser where it has to and somebody sits there.
struct NativeLogin {
    let page: PageLogin
    let answers: NativeArguments

    func run(_ scope: Scope, at authority: Authority) throws {
        guard var request = try signIn(scope, at: authority) else { return }
        StandardError.write("tokenstore: the issuer wants a browser for this\n")
        request.responseMode = page.redirect.responseMode
        request.timeLimit = page.redirect.timeLimit
        try page.run(request, at: authority)
    }

    /// What to ask a browser for; nil if nothing is left to do.
    private func signIn(_ scope: Scope, at authority: Authority) throws -> InteractiveRequest? {
        let run = try NativeRun(
            "sign-in",
            at: authority,
            client: page.clientID,
            answers,
            page.network,
            page.arguments
        )
        defer { run.close() }
        do {
            try run.report(run.signIn.run(scope))
            return nil
        } catch let refusal as any NativeRefusal {
            guard run.interview.mayAsk, let request = refusal.browserRequest else { throw run.failure(refusal) }
            return request
        }
    }
}
