import Database
import OAuth
import SQL

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension TokenStore {
    /// Takes in an MSAL unified cache, in one commit.
    ///
    /// Nothing is taken from a document that is not a JSON object. Of one that is, an entry that makes no sense is kept
    /// aside, and the others go in; what the store has newer stays. Importing the same document twice changes nothing.
    ///
    /// - Throws: ``TokenStoreError/Code/notAnMSALCache``. Unless `isKnownFormat`, that includes an object without any
    ///   bucket of a cache.
    public func importMSALCache(
        _ document: Data,
        isKnownFormat: Bool = false,
        progress: TokenStore.ProgressHandler? = nil
    ) throws -> ImportReport {
        try document.withUnsafeBytes {
            try importMSALCache($0, isKnownFormat: isKnownFormat, progress: progress)
        }
    }

    /// The same from bytes that are elsewhere.
    package func importMSALCache(
        _ bytes: UnsafeRawBufferPointer,
        isKnownFormat: Bool = false,
        progress: TokenStore.ProgressHandler? = nil
    ) throws -> ImportReport {
        let document = try MSALCacheDocument(bytes, isKnownFormat: isKnownFormat, progress: progress)
        return try importMSALCache(document, progress: progress)
    }

    /// The same from a document that was checked before the store was opened; a trial leaves the store as it was.
    package func importMSALCache(
        _ document: MSALCacheDocument,
        isTrial: Bool = false,
        progress: TokenStore.ProgressHandler? = nil
    ) throws -> ImportReport {
        do {
            return try importing(document, isTrial: isTrial, progress: progress)
        } catch let trial as ImportTrial {
            return trial.report
        }
    }

    private func importing(
        _ document: MSALCacheDocument,
        isTrial: Bool,
        progress: TokenStore.ProgressHandler?
    ) throws -> ImportReport {
        try withWriter { session in
            // The rows of a large document go to places all over the indexes.
            try session.connection.withCache(of: document.bytes.count > 1 << 25 ? 192 : nil) {
                try session.write {
                    try session.lockForManyAccounts()
                    var importer = try MSALCacheImporter(session, isTrial: isTrial)
                    try importer.run(document, progress: progress)
                    if isTrial { throw ImportTrial(report: importer.report) }
                    return importer.report
                }
            }
        }
    }
}

extension StoreReading {
    /// Everything as an MSAL unified cache, with what imports did not understand.
    ///
    /// The document holds every token in the clear.
    public func exportMSALCache() throws -> Data {
        var document = Data()
        try exportMSALCache { document.append(contentsOf: $0) }
        return document
    }

    /// The same in pieces, so that memory does not grow with the store; a piece is good until `write` returns.
    public func exportMSALCache(
        progress: TokenStore.ProgressHandler? = nil,
        write: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        var isTold = false
        try connections.read(isTold: isTold) { session in
            try session.connection.read {
                try withoutActuallyEscaping(write) { write in
                    let exporter = try MSALCacheExporter(session, progress: progress) { piece in
                        isTold = true
                        try write(piece)
                    }
                    try exporter.run()
                }
            }
        }
    }
}

/// What an import took in, by kind.
public struct ImportReport: Hashable, Sendable {
    /// How many accounts something was added to, or changed of; a document may have several entries for one.
    public var accounts = 0

    /// Entries of accounts in a tenant that were taken in.
    package var profiles = 0

    /// Access tokens that were taken in.
    public var accessTokens = 0

    /// Refresh tokens that were taken in.
    public var refreshTokens = 0

    /// ID tokens that were taken in.
    public var idTokens = 0

    /// Clients whose family was taken in.
    public var appMetadata = 0

    /// Entries of buckets not known here, which are kept as they are.
    public var other = 0

    /// Entries that the store had already, or had something newer for, or that replaced another one of the document.
    public var unchanged = 0

    /// Entries that were not taken in; they are kept aside and come back out on export.
    public var rejected: [Rejection] = []

    /// What people call the accounts, of the first five; a trial names all of them.
    public var accountNames: [String] = []

    /// An entry that was not taken in.
    public struct Rejection: Hashable, Sendable {
        /// The part of the document that the entry stands in, such as `RefreshToken`.
        public let bucket: String

        /// The entry's key in the bucket; nil where it is about the bucket as a whole.
        public let key: String?

        /// A clause without a full stop, never a secret.
        public let reason: String

        init(_ path: UnrecognizedEntry.Path, reason: String) {
            bucket = path.bucket
            // Half of a character is shown as it was written.
            key = path.rawKey.map { String($0.dropFirst().dropLast()) } ?? path.key
            self.reason = reason
        }
    }

    /// Nothing taken in.
    public init() {}

    /// How many entries were added or changed.
    package var changes: Int { profiles + accessTokens + refreshTokens + idTokens + appMetadata + other }
}

/// A bucket of the unified cache that the MSAL libraries share.
enum MSALBucket: String, CaseIterable {
    case accessToken = "AccessToken"
    /// Where MSAL for Apple's systems keeps tokens that are bound to a key.
    case boundAccessToken = "AccessToken_With_AuthScheme"
    case refreshToken = "RefreshToken"
    case idToken = "IdToken"
    case account = "Account"
    case appMetadata = "AppMetadata"
}

/// The fields of an entity of the unified cache, taken one by one; what was not taken is kept as it is.
struct MSALEntity {
    /// Fields not known here, and known ones whose value is `null` or of no use.
    private(set) var rest: JSONValue.Object

    init(_ value: JSONValue) throws(MSALRejection) {
        guard let object = value.object else { throw MSALRejection("the entry is \(value.kind), not an object") }
        rest = object
    }

    /// Takes a text that has to be there, and may be empty if `takesEmpty`.
    mutating func required(_ name: String, takesEmpty: Bool = false) throws(MSALRejection) -> String {
        switch rest[name] {
        case nil, .null: throw isInMemory(without: name) ? .inMemory : MSALRejection("it has no \(name)")
        case .string(let text):
            guard takesEmpty || !text.isEmpty else { throw MSALRejection("its \(name) is empty") }
            rest[name] = nil
            return text
        case let value?: throw MSALRejection("its \(name) is \(value.kind), not text")
        }
    }

    /// Whether what is missing, or what stands beside it, is there under the name that MSAL.js has for it in memory.
    private func isInMemory(without name: String) -> Bool {
        let names = ["client_id": ["clientId", "homeAccountId"], "home_account_id": ["homeAccountId"]]
        return names[name]?.contains { rest[$0]?.text != nil } ?? false
    }

    /// Takes the token, which has to be one that can be sent and shown.
    mutating func secret() throws(MSALRejection) -> Secret {
        let secret = Secret(try required("secret"))
        guard secret.isShowable else { throw MSALRejection("its secret has characters that a terminal would obey") }
        return secret
    }

    /// Takes the type of a token, if there is one; one that is bound to a key must not count as a Bearer token.
    ///
    /// What MSAL Node calls it stays where it is.
    mutating func tokenType(isBound: Bool) throws(MSALRejection) -> String? {
        var named = try keyText("token_type")
        if isBound, named?.isEmpty ?? true { named = rest["tokenType"]?.text }
        guard let type = named, !type.isEmpty else {
            if isBound { throw MSALRejection("it is bound to a key, and has no token_type") }
            return named
        }
        guard AccessToken.isType(type) else {
            throw MSALRejection("its token_type has characters that RFC 6749 forbids")
        }
        return type
    }

    /// Takes a text that rows are found by, and that has to be there.
    mutating func requiredKey(_ name: String) throws(MSALRejection) -> String {
        let key = try required(name)
        if let flaw = key.keyFlaw { throw MSALRejection("its \(name) \(flaw)") }
        return key
    }

    /// Takes the host, with a port or without: entries without one mean the account at the host that has it.
    mutating func environment() throws(MSALRejection) -> String {
        // To anything else no request could go, or to another host than the one that is named.
        guard let environment = HostAndPort.named(try requiredKey("environment"), usualPort: 443) else {
            throw MSALRejection("its environment is not a host")
        }
        // Rows are told apart by it, and capital letters name no other host. MSAL for Python writes small ones, too.
        return environment.lowercased()
    }

    /// Takes a text that rows are found by, if there is one.
    mutating func key(_ name: String) throws(MSALRejection) -> String? {
        guard let key = try keyText(name) else { return nil }
        if let flaw = key.keyFlaw { throw MSALRejection("its \(name) \(flaw)") }
        return key
    }

    /// Takes a text, if there is one; what is no text would make the entry another one than it is.
    private mutating func keyText(_ name: String) throws(MSALRejection) -> String? {
        if let value = rest[name], !value.isNull, value.text == nil {
            throw MSALRejection("its \(name) is \(value.kind), not text")
        }
        return text(name)
    }

    /// Takes a text that tells more of an account, if there is one; what no row can be found by stays as it is.
    mutating func description(_ name: String) -> String? {
        rest[name]?.text.flatMap { $0.keyFlaw == nil ? text(name) : nil }
    }

    /// Takes a text, if there is one.
    mutating func text(_ name: String) -> String? {
        guard let text = rest[name]?.text else { return nil }
        rest[name] = nil
        return text
    }

    /// Takes a time in Unix seconds, written as text or as a number, if there is one.
    mutating func seconds(_ name: String) -> Int64? {
        guard let seconds = rest[name]?.seconds else { return nil }
        rest[name] = nil
        return seconds
    }

    /// The same of a time at which something was written; one that is yet to come says nothing, and stays where it is.
    mutating func pastSeconds(_ name: String, now: Int64) -> Int64? {
        guard let seconds = rest[name]?.seconds, Self.isPast(seconds, now: now) else { return nil }
        return self.seconds(name)
    }

    /// Seconds that the clock of another program may be ahead, as Kerberos allows too.
    static let clockDifference: Int64 = 300

    /// Whether something can have been written at a time, by the clock of another program.
    static func isPast(_ seconds: Int64, now: Int64) -> Bool { seconds <= now + clockDifference }

    /// Drops a field.
    mutating func drop(_ name: String) { rest[name] = nil }
}

/// Why an entry is not taken in; it is kept as it is, and does not stop the others.
struct MSALRejection: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }

    fileprivate static let inMemory = Self(
        "it is in the form that MSAL.js has in memory: tokenCache.serialize() returns one that can be imported"
    )
}
