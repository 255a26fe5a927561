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
    @Test func `in an app of one tenant a guest gets the token of that tenant`() async throws {
        let fixture = try TestStore()
        let account = try #require(try Guest.signIn(to: fixture, at: Guest.other))
        let network = NoNetwork()
        var options = TokenManagerOptions()
        options.tenant = try Authority(parsing: "https://login.microsoftonline.com/\(Guest.other)")
        let manager = TokenManager(
            store: fixture.store,
            clientID: Fixture.client,
            transport: network,
            options: options
        )
        let request = SilentRequest(account: account.id, scope: "s1")
        let stored = try await manager.acquireTokenSilently(request)
        #expect(stored.accessToken.secret == Secret("at-\(Guest.other)"))
        #expect(network.addresses.isEmpty)
        fixture.clock.seconds += 3_601
        await #expect(throws: AcquisitionError.self) { try await manager.acquireTokenSilently(request) }
        #expect(network.addresses.first?.contains(Guest.other) == true)
    }

    @Test func `elsewhere an account gets the token of its home tenant`() async throws {
        let fixture = try TestStore()
        _ = try Guest.signIn(to: fixture, at: Guest.other)
        let account = try #require(try Guest.signIn(to: fixture, at: Guest.home))
        let manager = TokenManager(store: fixture.store, clientID: Fixture.client, transport: NoNetwork())
        let stored = try await manager.acquireTokenSilently(SilentRequest(account: account.id, scope: "s1"))
        #expect(stored.accessToken.secret == Secret("at-\(Guest.home)"))
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
