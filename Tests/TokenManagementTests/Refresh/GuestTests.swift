import HTTPTransport
import OAuth
import Synchronization
import TestSupport
import TestTraits
import Testing
import TokenManagement
import TokenStorage

/// Tokens of a person who signs in at another tenant than the one they are at home in.
@Suite(.onBothEngines)
struct GuestTests {
    private static let home = "aaaaaaaa-0000-4000-8000-000000000001"
    private static let other = "bbbbbbbb-0000-4000-8000-000000000002"
    private static let uid = "11111111-0000-4000-8000-000000000001"

    @Test func `in an app of one tenant a guest gets the token of that tenant`() async throws {
        let fixture = try TestStore()
        let account = try Self.signIn(to: fixture, at: Self.other)
        let network = NoNetwork()
        var options = TokenManagerOptions()
        options.tenant = try Authority(parsing: "https://login.microsoftonline.com/\(Self.other)")
        let manager = TokenManager(
            store: fixture.store,
            clientID: Fixture.client,
            transport: network,
            options: options
        )
        let request = SilentRequest(account: account.id, scope: "s1")
        let stored = try await manager.acquireTokenSilently(request)
        #expect(stored.accessToken.secret == Secret("at-\(Self.other)"))
        #expect(network.addresses.isEmpty)
        fixture.clock.seconds += 3_601
        await #expect(throws: AcquisitionError.self) { try await manager.acquireTokenSilently(request) }
        #expect(network.addresses.first?.contains(Self.other) == true)
    }

    @Test func `elsewhere an account gets the token of its home tenant`() async throws {
        let fixture = try TestStore()
        _ = try Self.signIn(to: fixture, at: Self.other)
        let account = try Self.signIn(to: fixture, at: Self.home)
        let manager = TokenManager(store: fixture.store, clientID: Fixture.client, transport: NoNetwork())
        let stored = try await manager.acquireTokenSilently(SilentRequest(account: account.id, scope: "s1"))
        #expect(stored.accessToken.secret == Secret("at-\(Self.home)"))
    }

    private static func signIn(to fixture: TestStore, at tenant: String) throws -> Account {
        let issuer = "https://login.microsoftonline.com/\(tenant)"
        var response = TokenResponse(accessToken: Secret("at-\(tenant)"), expiresIn: .seconds(3_600))
        response.refreshToken = Secret("rt-\(tenant)")
        response.clientInfo = Fixture.clientInfo(uid, home)
        response.idToken = Secret(
            Fixture.idToken([
                "iss": .string("\(issuer)/v2.0"), "aud": .string(Fixture.client), "sub": "s", "tid": .string(tenant),
                "oid": .string(tenant == home ? uid : "22222222-0000-4000-8000-000000000002"),
            ])
        )
        let account = try #require(try fixture.signIn(response, scope: "s1", at: issuer).account)
        return try #require(try fixture.store.account(account))
    }
}

/// Fails each request, and notes where it was to go.
private final class NoNetwork: HTTPTransport {
    struct Asked: Error {}

    private let asked = Mutex<[String]>([])

    var addresses: [String] { asked.withLock(\.self) }

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        asked.withLock { $0.append(request.url) }
        throw Asked()
    }
}
