import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension AccessToken {
    /// The token that a row to be written holds.
    init(_ row: StoredAccessToken) {
        func date(_ seconds: Int64?) -> Date? { seconds.map { Date(timeIntervalSince1970: TimeInterval($0)) } }
        self.init(
            secret: row.secret,
            clientID: row.clientID,
            target: row.target,
            tokenType: row.tokenType ?? "Bearer",
            keyID: row.keyID.isEmpty ? nil : row.keyID,
            realm: row.realm,
            cachedAt: date(row.cachedAt),
            expiresAt: Date(timeIntervalSince1970: TimeInterval(row.expiresOn)),
            extendedExpiresAt: date(row.extendedExpiresOn),
            refreshAt: date(row.refreshOn)
        )
    }
}
