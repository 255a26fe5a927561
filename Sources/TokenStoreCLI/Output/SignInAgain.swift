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
        guard let hint = failure.hint, hint.contains("sign in again"), let command = try? command else {
            return failure
        }
        let isLast = hint.hasSuffix("sign in again")
        return failure.hinting(isLast ? "\(hint) with '\(command)'" : "\(hint): '\(command)'")
    }

    /// A sentence that ends with the advice, with the command behind it.
    func completing(_ sentence: String) -> String {
        guard sentence.hasSuffix("sign in again"), let command = try? command else { return sentence }
        return "\(sentence) with '\(command)'"
    }

    private var command: String {
        get throws {
            let authority = try Authority(of: account, requested: nil)
            var command = ProposedCommand("login")
            if let issuer = authority.issuer {
                command.add("--issuer", issuer)
            } else {
                command.add("--authority", authority.url)
            }
            command.add("--client-id", client)
            command.add("--login-hint", account.username.isEmpty ? nil : account.username)
            for name in scope.tokens { command.add("--scope", name) }
            command.add(arguments)
            return command.text
        }
    }
}
