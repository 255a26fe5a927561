/// What the issuer asks the person although it may know who they are
/// ([OpenID Connect Core §3.1.2.1](https://openid.net/specs/openid-connect-core-1_0.html#AuthRequest)).
public enum Prompt: String, Sendable, CaseIterable {
    case selectAccount = "select_account"
    case login
    case consent

    /// Begins with a new account ([Initiating User Registration §4.1](https://openid.net/specs/openid-connect-prompt-create-1_0.html)).
    case create
}
