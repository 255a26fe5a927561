public import OAuth
public import TokenStorage

/// A store in a new directory, whose clock stands still.
public final class TestStore: Sendable {
    public let directory: TemporaryDirectory
    public let clock: TestClock
    public let options: StoreOptions
    public let location: StoreLocation
    private let opened: TokenStore?

    /// The file of a store that is one.
    public var path: StorePath {
        guard let path = location.path else { preconditionFailure("this test is about files") }
        return path
    }

    public var store: TokenStore {
        guard let opened else { preconditionFailure("the store of this test is closed; open it by its path") }
        return opened
    }

    public convenience init(_ configure: (inout StoreOptions) -> Void = { _ in }) throws {
        try self.init(isClosed: false, configure: configure) { _ in }
    }

    /// Opens a store, fills it, and closes it again if the test is about its files.
    private init(
        isClosed: Bool,
        configure: (inout StoreOptions) -> Void = { _ in },
        fill: (TokenStore) throws -> Void
    ) throws {
        directory = try TemporaryDirectory()
        clock = TestClock()
        options = Self.options(clock, configure)
        let store = try StoreEngine.current.open(in: directory, options: options)
        location = store.location
        try fill(store)
        opened = isClosed ? nil : store
    }

    /// A closed store of an older schema, whose rows are ``OldStore``'s.
    public init(older version: Int) throws {
        directory = try TemporaryDirectory()
        clock = TestClock()
        let path = StorePath(directory.file("tokenstore.db"))
        location = StoreLocation(path)
        options = Self.options(clock)
        try OldStore.make(at: path, version: version, rows: .twelveAccounts)
        opened = nil
    }

    /// A store that took in a document and is closed.
    public static func closed(_ document: JSONValue) throws -> TestStore {
        try TestStore(isClosed: true) { try $0.take(document.serialized) }
    }

    /// A store that took in a document.
    public convenience init(_ document: JSONValue) throws {
        try self.init()
        try take(document)
    }

    public static func options(
        _ clock: TestClock,
        _ configure: (inout StoreOptions) -> Void = { _ in }
    ) -> StoreOptions {
        var options = StoreOptions()
        options.environment = [:]
        options.program = "test"
        // What a janitor deletes that comes by by chance would be missing in a count.
        options.janitorChance = .max
        options.busyTimeout = .seconds(20)
        // What another process of the test has written is to be seen at once.
        options.staleness = .zero
        options.now = { clock.date }
        options.followsServerClock = false
        // Stores of some hundred rows take more than one step.
        options.resealBatch = 256
        options.accountsForTwoReaders = 500
        configure(&options)
        return options
    }

    /// The same store by other connections, like another process would open it.
    public func another() throws -> TokenStore { try TokenStore.open(at: location, options: options) }

    @discardableResult
    public func take(_ document: JSONValue) throws -> ImportReport { try store.take(document.serialized) }

    /// What an export holds.
    public func export() throws -> JSONValue { try store.exported() }

    /// The entities of a bucket of an export.
    public func rows(_ bucket: String) throws -> [JSONValue] { try store.rows(bucket) }

    /// What a silent request of the default client for the default user finds.
    public func request(
        _ scope: Scope,
        of account: Account.ID = Fixture.account,
        client: String = Fixture.client,
        at authority: String? = nil,
        _ configure: (inout TokenQuery) -> Void = { _ in }
    ) throws -> LookupResult {
        var query = TokenQuery(account: account, clientID: client, scope: scope)
        query.authority = try authority.map { try Authority(parsing: $0) }
        configure(&query)
        return LookupResult(try store.cachedToken(for: query))
    }

    /// Stores the answer to a sign-in of the default client.
    @discardableResult
    public func signIn(
        _ response: TokenResponse,
        scope: Scope = "s1 s2 s3",
        client: String = Fixture.client,
        at authority: String = "https://login.microsoftonline.com/t1",
        _ configure: (inout TokenRequest) -> Void = { _ in }
    ) throws -> SavedTokens {
        var request = TokenRequest(
            clientID: client,
            authority: try Authority(parsing: authority),
            scope: scope,
            grant: .authorizationCode
        )
        configure(&request)
        return try store.save(response, for: request)
    }

    /// Stores the answer to a refresh with the refresh token that the default client would use first.
    @discardableResult
    public func refresh(
        _ response: TokenResponse,
        scope: Scope = "s1",
        of account: Account.ID = Fixture.account,
        client: String = Fixture.client,
        with used: StoredRefreshToken? = nil,
        at authority: String = "https://login.microsoftonline.com/t1"
    ) throws -> SavedTokens {
        let request = TokenRequest(
            clientID: client,
            authority: try Authority(parsing: authority),
            scope: scope,
            grant: .refreshToken
        )
        let used = try used ?? currentRefreshToken(of: account, client: client)
        return try store.save(response, for: request, refreshing: used)
    }

    public func currentRefreshToken(
        of account: Account.ID = Fixture.account,
        client: String = Fixture.client
    ) throws -> StoredRefreshToken {
        guard let token = try store.refreshTokens(of: account, client: client, family: "1").first else {
            throw MissingRefreshToken()
        }
        return token
    }
}

/// The store of a test has no refresh token, which the test took for granted.
public struct MissingRefreshToken: Error {}

extension TokenStore {
    /// Takes in a document.
    @discardableResult
    public func take(_ document: String, isKnownFormat: Bool = false) throws -> ImportReport {
        var document = document
        return try document.withUTF8 {
            try importMSALCache(UnsafeRawBufferPointer($0), isKnownFormat: isKnownFormat)
        }
    }
}

extension StoreReading {
    /// The text of an export.
    public func exportedText() throws -> String {
        var document: [UInt8] = []
        try exportMSALCache { document.append(contentsOf: $0) }
        return String(decoding: document, as: UTF8.self)
    }

    /// What an export holds.
    public func exported() throws -> JSONValue { try JSONValue(parsing: exportedText()) }

    /// The entities of a bucket of an export.
    public func rows(_ bucket: String) throws -> [JSONValue] {
        try exported()[bucket].object?.members.map(\.value) ?? []
    }
}
