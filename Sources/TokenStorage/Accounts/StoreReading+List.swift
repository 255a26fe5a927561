import Database
public import OAuth
import SQL

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension StoreReading {
    /// Calls `body` with a summary of each account that `policy` leaves; memory does not grow with their number.
    ///
    /// All of it is read from one moment, while others may write.
    public func forEachAccount(
        matching policy: AccountPolicy = .all,
        sortedBy order: AccountOrder = .username,
        limit: Int? = nil,
        withTokens: Bool = false,
        _ body: (AccountSummary) throws -> Void
    ) throws {
        var isTold = false
        func tell(_ summary: AccountSummary) throws {
            isTold = true
            try body(summary)
        }
        try connections.read(isTold: isTold) { session in
            let isLong = policy.mayLeaveMany && limit.map { $0 > 1_000 } ?? true
            try session.readLong(isLong, of: connections) {
                let count = try session.forEachSummary(
                    matching: policy,
                    sortedBy: order,
                    limit: limit,
                    withTokens: withTokens,
                    tell
                )
                if count == 0 { try session.requireSoundness() }
            }
        }
    }

    /// The account of an id with what a list says of it; nil where it is not stored.
    public func summary(of account: Account.ID, withTokens: Bool = false) throws -> AccountSummary? {
        try read { session in
            try session.connection.read {
                guard let row = try session.confirmedAccountRow(account) else { return nil }
                let summary = try session.summary(row, withTokens: withTokens)
                if summary?.clientIDs.isEmpty ?? false { try session.requireAllTokensFound(of: [row]) }
                return summary
            }
        }
    }
}

extension StoreConnection {
    /// Calls `body` with a summary of each account that `policy` leaves.
    ///
    /// - Returns: how many there were.
    fileprivate func forEachSummary(
        matching policy: AccountPolicy,
        sortedBy order: AccountOrder,
        limit: Int?,
        withTokens: Bool,
        _ body: (AccountSummary) throws -> Void
    ) throws -> Int {
        var count = 0
        func ask(_ row: Int64) throws { try askAheadForSummary(row, withTokens: withTokens) }
        let read: @Sendable (StoreConnection, Int64) throws -> AccountSummary? = {
            try $0.summary($1, withTokens: withTokens)
        }
        try forEachAccountRow(
            matching: policy,
            sortedBy: order,
            limit: limit,
            askingAhead: ask,
            reading: read
        ) { summary in
            guard let summary else { return }
            count += 1
            try body(summary)
        }
        return count
    }
}

/// An account with what a list says of it.
public struct AccountSummary: Sendable {
    /// The account.
    public let account: Account

    /// Whether it is the default account.
    public let isDefault: Bool

    /// The clients that hold a token of the account.
    public let clientIDs: [String]

    /// Whether it is signed in to any client.
    public let signInState: SignInState

    /// Whether there is a refresh token that the issuer has not refused for good.
    public let hasRefreshToken: Bool

    /// Access tokens that are good and not yet worth refreshing.
    public let validCount: Int

    /// Access tokens that are good but worth refreshing.
    public let agingCount: Int

    /// Access tokens that have expired.
    public let expiredCount: Int

    /// All access tokens, expired ones too.
    public var accessTokenCount: Int { validCount + agingCount + expiredCount }

    /// When the next access token that has not ended will end.
    public let nextExpiry: Date?

    /// The last sign-in, refresh or import.
    public let lastUsed: Date

    /// Only where they were asked for.
    public let accessTokens: [AccessTokenSummary]

    /// The tenant the account is at home in, else the first it was seen in.
    public var tenantID: String? {
        account.tenantProfiles.first.map(\.tenantID).flatMap { $0.isEmpty ? nil : $0 } ?? account.utid
    }

    /// What the home tenant calls the account.
    public var localAccountID: String? { account.tenantProfiles.first?.localAccountID }
}

extension AccountSummary {
    /// Of an account that signed in to `client`, and of which nothing is in the store yet.
    package init(unstored account: Account, client: String, at now: Date) {
        self.init(
            account: account,
            isDefault: false,
            clientIDs: [client],
            signInState: .signedIn,
            hasRefreshToken: false,
            validCount: 0,
            agingCount: 0,
            expiredCount: 0,
            nextExpiry: nil,
            lastUsed: now,
            accessTokens: []
        )
    }
}

extension StoreReading {
    /// What people call each account that `policy` leaves, with its user flow.
    package func accountNames(matching policy: AccountPolicy) throws -> [String] {
        try read { session in
            try session.connection.read {
                try session.accountRows(matching: policy).pages.flatMap { try session.accountNames($0) }
            }
        }
    }
}

/// An access token without its secret.
public struct AccessTokenSummary: Sendable {
    /// The client that the token was issued to.
    public let clientID: String

    /// What it was granted for, each token of the scope.
    public let scopes: [String]

    /// How it is to be used, such as `Bearer`.
    public let tokenType: String

    /// Whether it is good.
    public let state: TokenState

    /// When it was stored; nil if an import did not say.
    public let cachedAt: Date?

    /// When it expires.
    public let expiresAt: Date

    /// When the issuer wants it to be refreshed; nil if it did not say.
    public let refreshAt: Date?
}
