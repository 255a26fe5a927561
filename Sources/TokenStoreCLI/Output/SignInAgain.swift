import NativeAuthentication
import OAuth
import OpenIDConnect
import Sealing
import TokenManagement
import TokenStorage

/// The command that signs an account in again, put together from what the store knows.
struct SignInAgain {
    let account: Account
    let client: String

    /// What the token is for; empty: what the sign-in asks for by itself.
    let scope: Scope

    /// What the session is for: the next one is to be for no less.
    private let granted: Scope

    /// The API that the session is for, where the sign-in named one.
    private let resource: String?

    /// Where the token was asked for, if not at home.
    private let authority: Authority?

    /// What the token was to have besides, or what the issuer wants, for which the person has to be asked.
    private(set) var claims: JSONValue?

    /// Whether the issuer wants an answer that only a page of its own asks for.
    private var needsPage = false

    /// Whether the person has to choose a new password first.
    private var needsNewPassword = false

    /// Whether a refresh token is missing, which some issuers give only where the person consents.
    private var needsConsent = false

    /// Whether the session is bound to a key: the next one is to be no less.
    private let isBound: Bool

    /// Whether the account is still there.
    private let isInStore: Bool

    /// How the person signed in last, as far as the store knows.
    private let grant: Grant?
    private let caFile: String?
    private let arguments: StoreArguments

    init(
        _ account: Account,
        _ client: String,
        _ request: SilentRequest?,
        in store: some StoreReading,
        _ network: NetworkArguments?,
        _ arguments: StoreArguments
    ) {
        self.account = account
        self.client = client
        scope = request?.scope ?? Scope([])
        claims = request?.claims
        authority = request?.authority
        // Where that cannot be read, the command is as good as it can be.
        let token = (try? store.refreshTokens(of: account.id, client: client))?.first
        granted = token?.scope ?? Scope([])
        resource = token?.resource
        isBound = (try? store.hasBoundAccessTokens(of: account.id, client: client) ?? true) ?? false
        grant = try? store.signInGrant(of: account.id)
        isInStore = (try? store.account(account.id)) != nil
        caFile = network?.caFile
        self.arguments = arguments
    }

    /// The same for an error that says what the next sign-in has to meet.
    func meeting(_ error: AcquisitionError?) -> SignInAgain {
        var again = self
        let refusal = error?.refusal
        again.needsConsent = error?.interaction == .noRefreshToken && error?.remedy?.code != .useFamilyTokens
        again.claims = claims ?? refusal?.claims.flatMap { try? JSONValue(parsing: $0) }
        again.needsPage = refusal?.needsPage ?? false
        again.needsNewPassword = refusal?.needsNewPassword ?? false
        return again
    }

    /// The only tenant in which the account was seen, where that is not its own, and no other is asked.
    ///
    /// Nobody else decides where a refresh token is sent: who deletes a row could have it sent elsewhere.
    private var guestTenant: String? {
        let tenants = Set(account.tenantProfiles.map(\.tenantID))
        guard authority == nil, account.utid != nil, account.userFlow == nil, !account.id.hasIssuer,
            !Cloud.isB2C(account.environment), tenants.count == 1, !account.tenantProfiles.contains(where: \.isHome)
        else { return nil }
        return tenants.first
    }

    /// The failure, with the advice to name the tenant where a guest has tokens there alone.
    func namingTenant(_ failure: CommandFailure) -> CommandFailure {
        guard let guestTenant else { return failure }
        let option = ProposedCommand.words("--tenant", guestTenant).map(\.shellWord).joined(separator: " ")
        return failure.hinting("add \(option), the only tenant in which the account was seen")
    }

    /// The failure, with the command behind advice to sign in.
    func completing(_ failure: CommandFailure) -> CommandFailure {
        var failure = failure
        failure.facts.concern(account)
        if failure.hint.map(asks) == true, isInStore { failure = namingTenant(failure) }
        // Where the account says nothing of its authority, there is no command.
        guard let hint = failure.hint, asks(hint) || Self.advice.contains(where: { hint.contains($0) }),
            let command = try? command(after: hint)
        else {
            return failure
        }
        return failure.hinting(asks(hint) ? "\(hint) with '\(command)'" : "\(hint): '\(command)'")
    }

    private static let advice = ["sign in again", "sign in with DPoP", "sign in with user flow"]

    /// How advice ends to sign in at another authority than the account's, which is for another account.
    private static let elsewhere = "sign in there"

    /// Whether a text ends with the advice to sign in, behind which the command follows.
    ///
    /// At another issuer that is not Microsoft's the client would be another, so that there is no command.
    private func asks(_ text: String) -> Bool {
        guard text.hasSuffix(Self.elsewhere) else { return text.hasSuffix("sign in again") }
        return authority.map { Cloud.contains($0.environment) } ?? false
    }

    /// The scopes to ask for: Microsoft's issuers take those of one API only.
    private func wanted(at authority: Authority) -> Scope {
        authority.issuer == nil ? scope : Scope(scope.tokens + granted.missing(from: scope).tokens)
    }

    /// Whether the person signed in with native authentication, which the authority may have.
    ///
    /// A host with many tenants has none; there an import has a grant of that name for a password that was sent alone.
    private func isNative(at authority: Authority) -> Bool {
        grant?.isNative == true && !Cloud.hasTenants(authority.environment)
            && (try? NativeAuthConfiguration(clientID: client, authority: authority)) != nil
    }

    /// The command that signs in, as the person did before; an error where the account says nothing of its authority.
    func command(after advice: String = "") throws -> String {
        let requested = self.authority
        let isElsewhere = requested != nil && advice.hasSuffix(Self.elsewhere)
        let authority = try (isElsewhere ? requested : nil) ?? Authority(of: account, requested: requested)
        let bindsTokens = isBound || advice.contains("with DPoP")
        // Claims are asked for on a page alone, and native authentication binds no tokens.
        let isForPage = needsPage || claims != nil || bindsTokens || isElsewhere
        let isOnTerminal = !isForPage && isNative(at: authority)
        let isOnDevice = claims == nil && grant == .deviceCode
        // A page lets the person choose a new password; on the terminal another command does.
        let isReset = isOnTerminal && needsNewPassword
        var command = ProposedCommand(isReset ? "reset-password" : "login")
        if isOnTerminal, !isReset { command.add("--native") }
        if isOnDevice { command.add("--device") }
        if let issuer = authority.issuer {
            command.add("--issuer", issuer)
        } else {
            command.add("--authority", authority.url)
        }
        command.add("--client-id", client)
        let username = isOnDevice || isElsewhere ? nil : account.loginHint
        command.add(isOnTerminal ? "--username" : "--login-hint", username)
        let asksForConsent = needsConsent && authority.givesRefreshTokensByConsent && !isOnDevice && !isOnTerminal
        if asksForConsent { command.add("--prompt", "consent") }
        let asked = isElsewhere ? scope : wanted(at: authority)
        for name in (asksForConsent ? asked.forOfflineAccess : asked).tokens { command.add("--scope", name) }
        if !isOnTerminal { command.add("--parameter", resource.map { "resource=\($0)" }) }
        command.add("--claims", claims?.serialized)
        if bindsTokens { command.add("--dpop") }
        command.add("--ca-file", caFile)
        command.add(arguments)
        return command.text
    }
}

extension Authority {
    /// Whether the issuer may give a refresh token only where the person is asked for consent
    /// ([OpenID Connect Core §11](https://openid.net/specs/openid-connect-core-1_0.html#OfflineAccess)); Microsoft's
    /// do not.
    var givesRefreshTokensByConsent: Bool { issuer != nil && !Cloud.contains(environment) }
}

extension Scope {
    /// The scope with the one for a refresh token, which a sign-in asks for by itself only where the issuer lists it.
    var forOfflineAccess: Scope { Scope(tokens + ["offline_access"]) }
}
