import Foundation
import OAuth
import PostgreSQL
import Sealing
import TestSupport
import Testing
import TokenStorage

/// A place for a store on the tests' server.
struct ServerScene {
    let server: TestServer
    let directory: TemporaryDirectory
    let schema = "s" + UUID().uuidString.lowercased().filter { $0 != "-" }
    var options: StoreOptions

    init(on server: TestServer? = nil) throws {
        self.server = try server ?? TestServer.shared.get()
        directory = try TemporaryDirectory()
        options = TestStore.options(TestClock())
        options.busyTimeout = .seconds(20)
        options.keySource = .file(directory.file("key"))
    }

    var location: StoreLocation { get throws { StoreLocation(try server.address(schema: schema)) } }

    /// The place, for another role over TCP.
    func location(as user: String, port: Int? = nil) throws -> StoreLocation {
        try StoreLocation("postgresql://\(user)@127.0.0.1:\(port ?? server.port)/tests?schema=\(schema)")
    }

    @discardableResult
    func create(granting roles: ServerRoles = ServerRoles(), isDistributed: Bool = false) throws -> Bool {
        try TokenStore.create(
            at: location,
            options: options,
            granting: roles,
            isDistributed: isDistributed || TestCluster.spreads(server)
        )
    }

    /// A store that is made now.
    func createdStore() throws -> TokenStore {
        try create()
        return try open()
    }

    func open() throws -> TokenStore { try TokenStore.open(at: location, options: options) }

    func openLater() async throws -> TokenStore { try await TokenStore.open(at: location, options: options) }

    /// Runs statements as the owner of the tables.
    func sql(_ script: String) throws {
        try server.connect().execute("SET search_path = \(schema); " + script)
    }

    func count(_ sql: String) throws -> Int64 {
        let connection = try server.connect()
        try connection.execute("SET search_path = \(schema)")
        return try connection.prepare(sql).first([]) { $0.integer(0) } ?? -1
    }

    static func response(_ subject: String, token: String) throws -> TokenResponse {
        try .signIn(
            [
                "client_info": .string(Fixture.clientInfo(subject, "t1")), "access_token": .string(token),
                "refresh_token": .string("r-" + token),
            ],
            without: "id_token"
        )
    }

    static func request() throws -> TokenRequest {
        TokenRequest(
            clientID: "cid",
            authority: try Authority(parsing: "https://login.microsoftonline.com/t1"),
            scope: "s1",
            grant: .authorizationCode
        )
    }
}

/// Expects an error of a code that says what to do.
func expectCode(
    _ code: TokenStoreError.Code,
    sourceLocation: SourceLocation = #_sourceLocation,
    from body: () throws -> Void
) {
    let error = #expect(throws: TokenStoreError.self, sourceLocation: sourceLocation, performing: body)
    #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
    #expect(error?.remedy != nil, sourceLocation: sourceLocation)
}

/// Waits until something is so; a busy machine may take its time.
func eventually(_ isSo: () async throws -> Bool) async throws {
    let end = ContinuousClock.now + .seconds(60)
    while try await !isSo() {
        guard ContinuousClock.now < end else { throw Late() }
        try await Task.sleep(for: .milliseconds(1))
    }
}

private struct Late: Error {}
