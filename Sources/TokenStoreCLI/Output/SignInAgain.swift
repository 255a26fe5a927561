import OAuth
import Sealing
import TokenManagement
import TokenStorage

/// The command that signs an account in again, put together from what the store knows.
struct SignInAgain {
    let account: Account
    let client: String

    /// What the token is for; empty: what the sign-in asks for by itself.
    var scope = Scope([])

    let arguments: StoreArguments

    /// The failure, with the command behind advice to sign in.
    func completing(_ failure: CommandFailure) -> CommandFailure {
        var failure = failure
        failure.facts.concern(account)
        // Where the account says nothing of its authority, there is no command.
        guard let hint = failure.hint, hint.hasSuffix("sign in again"), let command = try? command else {
            return failure
        }
        return failure.hinting("\(hint) with '\(command)'")
    }

    private var command: String {
        get throws {
            let authority = try Authority(of: account, requested: nil)
            var words = ["tokenstore", "login"]
            if let issuer = authority.issuer {
                words += ["--issuer", issuer]
            } else {
                words += ["--authority", authority.url]
            }
            words += ["--client-id", client]
            if !account.username.isEmpty { words += ["--login-hint", account.username] }
            for name in scope.tokens { words += ["--scope", name] }
            if let store = arguments.store { words += ["--store", store] }
            if let key = arguments.key { words += ["--key", "\(key)"] }
            return words.map(\.shellWord).joined(separator: " ")
        }
    }
}
