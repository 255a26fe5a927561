import Foundation
import OAuth
import SignIn
import TokenManagement
import TokenStorage

/// Takes accounts or an `NSError`, of which one is nil.
public typealias MSALAccountsCompletionBlock = @MainActor @Sendable ([MSALAccount]?, (any Error)?) -> Void

/// Takes the account that is signed in, the one before it, and an `NSError`.
public typealias MSALCurrentAccountCompletionBlock =
    @MainActor @Sendable (MSALAccount?, MSALAccount?, (any Error)?) -> Void

/// Takes whether a sign-out succeeded, and an `NSError`.
public typealias MSALSignoutCompletionBlock = @MainActor @Sendable (Bool, (any Error)?) -> Void

extension MSALPublicClientApplication {
    /// The accounts that are signed in to this client.
    public func allAccounts() throws -> [MSALAccount] { try accounts(for: MSALAccountEnumerationParameters()) }

    /// The accounts of this client that fit.
    ///
    /// - Throws: an error with ``MSALInternalError/invalidParameter`` if a name is blank.
    public func accounts(for parameters: MSALAccountEnumerationParameters) throws -> [MSALAccount] {
        do {
            return try accounts(that: parameters.criteria, in: application.store)
        } catch {
            throw NSError.msal(error)
        }
    }

    /// The account of this client with a home account id.
    ///
    /// - Throws: an error with ``MSALInternalError/accountRequired`` if there is none, with
    ///   ``MSALInternalError/invalidParameter`` if the id is blank.
    public func account(forIdentifier identifier: String) throws -> MSALAccount {
        try one(MSALAccountEnumerationParameters(identifier: identifier))
    }

    /// The account of this client with a username.
    ///
    /// - Throws: an error with ``MSALInternalError/accountRequired`` if there is none, with
    ///   ``MSALInternalError/ambiguousAccount`` if there are several, with ``MSALInternalError/invalidParameter`` if the
    ///   username is blank.
    public func account(forUsername username: String) throws -> MSALAccount {
        try one(MSALAccountEnumerationParameters(identifier: nil, username: username))
    }

    /// The accounts of this client that fit; no other program of the device is asked.
    public func accountsFromDevice(
        for parameters: MSALAccountEnumerationParameters,
        completionBlock: @escaping MSALAccountsCompletionBlock
    ) {
        let criteria = parameters.criteria
        deliver(to: completionBlock) { try await self.accounts(that: criteria) }
    }

    /// The one account that is signed in to this client, nil if there is none; the previous account is always nil.
    ///
    /// Several accounts are an error with ``MSALInternalError/ambiguousAccount``.
    public func getCurrentAccount(
        with parameters: MSALParameters?,
        completionBlock: @escaping MSALCurrentAccountCompletionBlock
    ) {
        let block = { @MainActor @Sendable in completionBlock($0 ?? nil, nil, $1) }
        deliver(to: block) { try await self.onlyAccount() }
    }

    /// The same without a completion block.
    public nonisolated(nonsending) func currentAccount(
        with parameters: MSALParameters? = nil
    ) async throws -> (MSALAccount?, previousAccount: MSALAccount?) {
        (try await onlyAccount(), nil)
    }

    /// Removes everything that this client knows of an account from this machine; the issuer is not told.
    public func remove(_ account: MSALAccount) throws {
        do {
            let client = application.configuration.clientID
            _ = try application.store.removeAccount(account.account.id, client: client)
        } catch {
            throw NSError.msal(error)
        }
    }

    /// Ends the account's session at the issuer where that offers it, then removes the account.
    public func signout(
        with account: MSALAccount,
        signoutParameters: MSALSignoutParameters,
        completionBlock: @escaping MSALSignoutCompletionBlock
    ) {
        let account = account.account
        let block = { @MainActor @Sendable in completionBlock($0 ?? false, $1) }
        deliver(to: block) { try await self.signOut(account) }
    }

    /// The same without a completion block.
    @discardableResult
    public nonisolated(nonsending) func signout(
        with account: MSALAccount,
        signoutParameters: MSALSignoutParameters
    ) async throws -> Bool {
        try await signOut(account.account)
    }

    private func signOut(_ account: Account) async throws -> Bool {
        _ = try await translatingErrors { try await application.signOut(account) }
        return true
    }

    private func onlyAccount() async throws -> MSALAccount? {
        try Self.only(await accounts(that: MSALAccountEnumerationParameters().criteria))
    }

    private func accounts(that criteria: AccountCriteria) async throws -> [MSALAccount] {
        try await translatingErrors {
            try await application.store.performRead { [self] in try accounts(that: criteria, in: $0) }
        }
    }

    private func accounts(that criteria: AccountCriteria, in store: TokenStore) throws -> [MSALAccount] {
        guard !criteria.hasBlankName else {
            throw TokenStoreError.invalidArgument("the name of the account is blank", .correct("give one"))
        }
        let client = application.configuration.clientID
        let known =
            try criteria.isSignedIn ? store.signedInAccounts(client: client) : store.accounts(knownTo: client)
        let fitting = known.filter(criteria.fits)
        // Subjects may differ in case alone: an id that an account gave names that account and no other.
        let exact = fitting.filter(criteria.isSpelled)
        // Also where that one is signed out, or is not what else is asked for: the other is another person.
        let named = try criteria.identifier.map { try store.accounts(matching: .homeAccountID($0)) } ?? []
        let taken = Set(named.filter(criteria.isSpelled).map(\.id.issuer))
        let others = fitting.filter { !taken.contains($0.id.issuer) }
        return try (exact.isEmpty ? others : exact).map { account in
            MSALAccount(account, claims: try store.idTokens(of: account.id, client: client).map(\.idToken.claims))
        }
    }

    private func one(_ parameters: MSALAccountEnumerationParameters) throws -> MSALAccount {
        guard let account = try Self.only(accounts(for: parameters)) else {
            throw NSError.msal(.accountRequired, "no account of this client fits; sign in")
        }
        return account
    }

    private static func only(_ accounts: [MSALAccount]) throws -> MSALAccount? {
        guard accounts.count < 2 else {
            throw NSError.msal(.ambiguousAccount, "\(accounts.count) accounts fit; name one by its identifier")
        }
        return accounts.first
    }
}
