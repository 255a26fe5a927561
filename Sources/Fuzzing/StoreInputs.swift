import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A small store in a new directory, whose clock stands still and which can be reset to its first state.
final class ScratchStore: Sendable {
    let path: StorePath
    let database: [UInt8]
    private let options: StoreOptions

    init(fill: (TokenStore) throws -> Void) throws {
        let manager = FileManager.default
        // In memory where the system offers that: a disk that synchronizes would be most of the work.
        let memory = "/dev/shm"
        let parent = manager.isWritableFile(atPath: memory) ? memory : manager.temporaryDirectory.path
        path = StorePath("\(parent)/tokenstore-fuzz-\(UUID().uuidString)/tokenstore.db")
        var options = StoreOptions()
        options.environment = [:]
        options.program = "fuzz"
        options.busyTimeout = .milliseconds(200)
        options.now = { Date(timeIntervalSince1970: Double(IDTokenInput.now)) }
        self.options = options
        let filler = path
        try Self.withStore(at: filler, options, fill)
        database = try [UInt8](Data(contentsOf: URL(fileURLWithPath: filler.database)))
    }

    deinit {
        // A leftover of a run does no harm.
        try? FileManager.default.removeItem(atPath: path.directory)
    }

    private static func withStore(
        at path: StorePath,
        _ options: StoreOptions,
        _ body: (TokenStore) throws -> Void
    ) throws {
        try body(TokenStore.open(at: path, options: options))
    }

    /// Whether the database is `bytes` still, and no log has anything to add.
    func isStill(_ bytes: [UInt8]) throws -> Bool {
        let manager = FileManager.default
        let log = manager.fileExists(atPath: path.log) ? try manager.attributesOfItem(atPath: path.log)[.size] : nil
        guard log as? Int ?? 0 == 0 else { return false }
        // Of an empty file, Foundation would leak what it meant to read it into.
        guard try manager.attributesOfItem(atPath: path.database)[.size] as? Int != 0 else { return bytes.isEmpty }
        return try Data(contentsOf: URL(fileURLWithPath: path.database)).elementsEqual(bytes)
    }

    /// Resets the store to its first state, or to `bytes`; no process may have it open.
    func restore(_ bytes: [UInt8]? = nil) throws {
        for name in try FileManager.default.contentsOfDirectory(atPath: path.directory) {
            guard !["key", "tokenstore.db", "tokenstore.lock"].contains(name) else { continue }
            try FileManager.default.removeItem(atPath: path.directory + "/" + name)
        }
        try Data(bytes ?? database).write(to: URL(fileURLWithPath: path.database))
    }

    func open() throws -> TokenStore { try TokenStore.open(at: path, options: options) }

    func inspect() throws -> StoreInspection? { try TokenStore.inspect(at: path, options: options) }

    func repair() throws -> RepairReport { try TokenStore.repair(at: path, options: options) }
}

/// The pages of a database, changed.
///
/// The first byte selects the operation to try besides reading. Each further five bytes (operation, three for the
/// place, value) change one place.
struct DatabaseInput: FuzzInput {
    private let scratch: ScratchStore
    private let account = Account.ID(issuer: "https://id.example", homeAccountID: "mara")

    init() throws {
        scratch = try ScratchStore { store in
            for subject in ["mara", "jon", "ida"] { try store.save(Self.response(subject), for: Self.request()) }
            _ = try store.purgeExpired()
        }
    }

    func run(_ bytes: [UInt8]) throws {
        let damaged = changed(bytes.dropFirst())
        try scratch.restore(damaged)
        try attempt(look)
        try hold(try scratch.isStill(damaged), "reading does not touch the file")
        switch bytes.first ?? 0 {
        case UInt8(ascii: "w"): try attempt { try scratch.open().save(Self.response("mara"), for: Self.request()) }
        case UInt8(ascii: "d"): try attempt { try scratch.open().removeAccount(account) }
        case UInt8(ascii: "r"):
            let isRepaired = try attempt { _ = try scratch.repair() }
            guard isRepaired else { return try hold(try scratch.isStill(damaged), "a file beyond repair stays") }
            let problems = try scratch.open().check()
            try hold(problems.isEmpty, "a repaired store is sound, unlike \(problems)")
        default: break
        }
    }

    /// Reads everything there is to read.
    private func look() throws {
        guard let store = try scratch.inspect() else { throw BrokenPromise("a store that is there is seen") }
        var count = 0
        try store.forEachAccount(withTokens: true) { _ in count += 1 }
        try hold(count > 0, "accounts do not vanish without a word")
        try attempt { try checkTokens(store) }
        try attempt { _ = try store.accounts(matching: .claim("team", equals: .string("blue"))) }
        try attempt { _ = try store.idTokens(of: account) }
        try attempt { _ = try store.events() }
        try attempt { _ = try store.status() }
        try attempt { try store.exportMSALCache { _ in } }
        try attempt { _ = try store.check() }
    }

    private func checkTokens(_ store: StoreInspection) throws {
        let query = TokenQuery(account: account, clientID: "app", scope: "read")
        if case .usable(let token, _) = try store.cachedToken(for: query) {
            try hold(token.secret == Secret("access-of-mara"), "a token is the right one")
        }
        for token in try store.refreshTokens(of: account, client: "app") {
            try hold(token.secret == Secret("refresh-of-mara"), "a refresh token is the right one")
        }
    }

    @discardableResult
    private func attempt(_ body: () throws -> Void) throws -> Bool {
        try unlessRefused(by: TokenStoreError.self, body: body) != nil
    }

    private func changed(_ changes: ArraySlice<UInt8>) -> [UInt8] {
        var database = scratch.database
        var rest = changes
        while rest.count >= 5, !database.isEmpty {
            let change = Array(rest.prefix(5))
            rest = rest.dropFirst(5)
            let place = change[1...3].reduce(0) { $0 << 8 | Int($1) } % database.count
            switch change[0] % 4 {
            case 0: database[place] = change[4]
            case 1: database[place] ^= 1 << (change[4] & 7)
            case 2: for index in place..<min(database.count, place + 64) { database[index] = change[4] }
            // So that a short input does not mostly cut the file off.
            default: if change[4] == 0 { database.removeLast(database.count - place) }
            }
        }
        return database
    }

    private static func request() throws -> TokenRequest {
        TokenRequest(
            clientID: "app",
            authority: try Authority(issuer: "https://id.example"),
            scope: "read",
            grant: .authorizationCode
        )
    }

    private static func response(_ subject: String) -> TokenResponse {
        let claims: JSONValue = [
            "iss": "https://id.example", "sub": .string(subject), "aud": "app", "iat": .number("\(IDTokenInput.now)"),
            "preferred_username": .string("\(subject)@example.net"), "team": "blue",
        ]
        var response = TokenResponse(accessToken: Secret("access-of-\(subject)"), expiresIn: .seconds(3_600))
        response.refreshToken = Secret("refresh-of-\(subject)")
        let parts = [["alg": "none"], claims].map { Base64URL.encode($0.serialized.utf8) }
        response.idToken = Secret(parts.joined(separator: ".") + ".c2ln")
        return response
    }
}

/// Documents to import, which come back out as they went in.
struct MSALCacheInput: FuzzInput {
    private let scratch: ScratchStore
    private let other: ScratchStore

    init() throws {
        scratch = try ScratchStore { _ in }
        other = try ScratchStore { _ in }
    }

    func run(_ bytes: [UInt8]) throws {
        try scratch.restore()
        let store = try scratch.open()
        guard try take(bytes, into: store) else {
            return try hold(try scratch.isStill(scratch.database), "a document that is refused changes nothing")
        }
        try store.forEachAccount(withTokens: true) { _ in }
        let problems = try store.check()
        try hold(problems.isEmpty, "a store that took a document is sound, unlike \(problems)")
        let first = try export(of: store)
        guard try take(bytes, into: store) else { throw BrokenPromise("a document is taken in a second time") }
        try hold(try JSONValue.mended(export(of: store)) == JSONValue.mended(first), "a second import changes nothing")

        try other.restore()
        let copy = try other.open()
        guard try take(Array(first.utf8), into: copy) else { throw BrokenPromise("an export can be imported") }
        try hold(
            try JSONValue.mended(export(of: copy)) == JSONValue.mended(first),
            "an export imported comes out the same"
        )
    }

    /// - Returns: whether the document was not refused.
    private func take(_ bytes: [UInt8], into store: TokenStore) throws -> Bool {
        try unlessRefused(by: TokenStoreError.self) {
            try bytes.withUnsafeBytes { _ = try store.importMSALCache($0, isKnownFormat: true) }
        } != nil
    }

    private func export(of store: TokenStore) throws -> String {
        var document: [UInt8] = []
        try store.exportMSALCache { document.append(contentsOf: $0) }
        return String(decoding: document, as: UTF8.self)
    }
}
