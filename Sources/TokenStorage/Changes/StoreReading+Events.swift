import Database
public import OAuth
import Sealing

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension StoreReading {
    /// The record of use, newest first: what was done, by which program.
    public func events(limit: Int = 100) throws -> [StoreEvent] {
        try read { session in try session.newestEvents(max(0, limit)) }
    }

    /// The last entries that concern an account, newest first; also of one that is gone.
    public func events(of account: Account.ID, limit: Int = 100) throws -> [StoreEvent] {
        try read { session in
            try session.connection.read {
                guard let mark = try session.mark(of: account) else { return [] }
                return try session.newestEvents(ofMark: mark, max(0, limit))
            }
        }
    }

    /// The last entries that concern a refresh token, newest first, to recognise a race or a stolen token by.
    public func events(of token: StoredRefreshToken, limit: Int = 10) throws -> [StoreEvent] {
        try read { session in
            try session.connection.read {
                let fingerprints = try session.currentKeys().all.map { $0.fingerprint(token.secret) }
                let events = try fingerprints.flatMap { try session.newestEvents(of: $0, max(0, limit)) }
                return Array(events.sorted { $0.id > $1.id }.prefix(max(0, limit)))
            }
        }
    }
}

/// An entry of the record of use.
public struct StoreEvent: Hashable, Sendable, Identifiable {
    /// What was done; later versions add kinds, so this is an open set.
    public struct Kind: RawRepresentable, Hashable, Sendable {
        /// The name by which the store and the log know the kind.
        public let rawValue: String

        /// A kind by its name; a newer version of the store may know more.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// Somebody signed in.
        public static let signIn = Kind(rawValue: "sign_in")

        /// Tokens were refreshed.
        public static let refresh = Kind(rawValue: "refresh")

        /// Somebody signed out.
        public static let signOut = Kind(rawValue: "sign_out")

        /// The issuer answered a refresh with an error; ``StoreEvent/outcome`` is its code, or what became of the
        /// token.
        public static let refused = Kind(rawValue: "refused")

        /// Accounts were purged.
        public static let purge = Kind(rawValue: "purge")

        /// A cache was imported.
        public static let `import` = Kind(rawValue: "import")

        /// Values were sealed anew under another key.
        public static let rekey = Kind(rawValue: "rekey")

        /// A backup took the place of the store.
        public static let restore = Kind(rawValue: "restore")

        /// What was damaged, and had lost its meaning by that, was taken out.
        public static let repair = Kind(rawValue: "repair")

        /// What a purge of everything deleted is still in free pages; the entry goes when it is not any more.
        static let erase = Kind(rawValue: "erase")

        /// The store was moved elsewhere, or came from elsewhere; the outcome names the place.
        public static let move = Kind(rawValue: "move")

        /// An answer that had waited in a file was dealt with; the outcome names the file.
        public static let takeIn = Kind(rawValue: "take_in")

        /// The issuer told the name of an account apart from its ID token.
        public static let name = Kind(rawValue: "name")
    }

    /// Rises with every entry: by one in a file, with the time on a server.
    public let id: Int64

    /// When it happened.
    public let at: Date

    /// The program that did it, as it calls itself.
    public let program: String

    /// The process that did it.
    public let processID: Int64

    /// What happened.
    public let kind: Kind

    /// How it ended, in a word.
    public let outcome: String

    /// The account concerned; nil where it is about several, or none, or one that is gone.
    public let account: Account.ID?

    /// Keyed hash of the account concerned, which outlives it.
    let accountMark: [UInt8]?

    /// The client concerned; nil if none was.
    public let clientID: String?

    /// The outcome of a repair after which nobody can tell the accounts that earlier entries and sign-outs were of.
    static let forgottenMarks = "altered key of account marks"

    /// How many entries a file keeps.
    static let limit: Int64 = 2_000
}
