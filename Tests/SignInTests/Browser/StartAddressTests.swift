import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import NIOCore
import NIOEmbedded
import OAuth
import SignIn
import Synchronization
import TestSupport
import Testing

/// The address of this machine that a browser is started with.
struct StartAddressTests {
    private static let page = "https://issuer.example/authorize?state=s&nonce=n"

    /// A process that is given the start address.
    private struct Starter: UserAgent {
        let visit: @Sendable (_ address: String, _ start: String) async throws -> Void

        func open(_ address: String) async throws { throw ExpectationFailure("a start address") }

        func open(_ address: String, startingAt start: String?) async throws { try await visit(address, start ?? "") }
    }

    @Test func `the start address redirects this user's browser each time it asks`() async throws {
        try await SignInScene.open { scene in
            let visitor = try ScriptedBrowser()
            let agent = Starter { address, start in
                #expect(start.contains(/^http:\/\/127\.0\.0\.1:[0-9]+\/[A-Za-z0-9_-]{43}$/))
                for _ in 1...2 {
                    let response = try await SignInScene.transport.send(HTTPRequest("GET", start), limits: .issuer)
                    #expect(response.status == 302)
                    #expect(response.headers["location"] == address)
                    #expect(response.headers["cache-control"] == "no-store")
                    #expect(response.headers["referrer-policy"] == "no-referrer")
                }
                for method in ["HEAD", "POST"] {
                    let response = try await SignInScene.transport.send(HTTPRequest(method, start), limits: .issuer)
                    #expect(response.status == 405)
                    #expect(response.headers["location"] == nil)
                }
                try await visitor.open(start)
                try await visitor.signIn(SignInScene.ana, SignInScene.anasPassword)
            }
            let result = try await scene.application(agent).acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            #expect(result.account.name == "Ana Rojas")
        }
    }

    @Test(.enabled(if: LoopbackClient.canBeAnotherUser, "needs root and setpriv"))
    func `another user who opens the start address gets nothing`() async throws {
        try await SignInScene.open { scene in
            let visitor = try ScriptedBrowser()
            let seen = Mutex("")
            let agent = Starter { _, start in
                let answer = try LoopbackClient.get(start, asUser: 65_534)
                seen.withLock { $0 = answer }
                try await visitor.open(start)
                try await visitor.signIn(SignInScene.ana, SignInScene.anasPassword)
            }
            let result = try await scene.application(agent).acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            #expect(result.account.name == "Ana Rojas")
            #expect(seen.withLock(\.self).hasPrefix("HTTP/1.1 404"))
            #expect(!seen.withLock(\.self).contains("state"))
        }
    }

    /// What a listener answers to requests for its start address, one connection after the other.
    private func answers(_ count: Int, to owner: ConnectionOwner) throws -> (answers: [String], error: SignInError?) {
        let pendingRedirect = PendingRedirect(state: Secret("s"))
        let start = StartAddress()
        start.lead(to: Self.page)
        var routes = RedirectRoutes(path: "/", mode: .query, pendingRedirect: pendingRedirect, start: start)
        routes.owner = { _ in owner }
        let answers = try (0..<count).map { _ in
            let channel = try EmbeddedChannel(routes)
            try channel.writeInbound(ByteBuffer(string: "GET \(start.path) HTTP/1.1\r\nHost: 127.0.0.1:8080\r\n\r\n"))
            return try channel.written
        }
        guard case .failure(let error) = pendingRedirect.outcome else { return (answers, nil) }
        return (answers, error)
    }

    @Test func `when a connection's user is unknown a second request ends the sign-in`() throws {
        let once = try answers(1, to: .unknown)
        #expect(once.answers[0].hasPrefix("HTTP/1.1 302"))
        #expect(once.answers[0].contains("location: \(Self.page)\r\n"))
        #expect(once.error == nil)
        let twice = try answers(2, to: .unknown)
        #expect(twice.answers[1].hasPrefix("HTTP/1.1 410"))
        #expect(!twice.answers[1].contains("state"))
        #expect(twice.error == .openedTwice)
        let stranger = try answers(2, to: .anotherUser)
        #expect(stranger.answers.allSatisfy { $0.hasPrefix("HTTP/1.1 404") })
        #expect(stranger.error == nil)
    }

    @Test func `a request that drips keeps its connection for ten seconds at most`() throws {
        let pendingRedirect = PendingRedirect(state: Secret("s"))
        let channel = try EmbeddedChannel(
            RedirectRoutes(path: "/", mode: .query, pendingRedirect: pendingRedirect, start: StartAddress())
        )
        for byte in ["G", "E", "T"] {
            try channel.writeInbound(ByteBuffer(string: byte))
            channel.embeddedEventLoop.advanceTime(by: .seconds(3))
            #expect(channel.isActive)
        }
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
        #expect(pendingRedirect.outcome == nil)
    }
}

/// Connections to this machine, byte by byte.
enum LoopbackClient {
    private static let setpriv = "/usr/bin/setpriv"

    static var canBeAnotherUser: Bool { geteuid() == 0 && FileManager.default.isExecutableFile(atPath: setpriv) }

    /// Sends `text` and leaves the connection open.
    static func send(_ text: String, to port: UInt16) throws -> Int32 {
        let connection = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isConnected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(connection, $0, length) == 0 }
        }
        guard isConnected else { throw POSIXError(.ECONNREFUSED) }
        _ = Array(text.utf8).withUnsafeBytes {
            Foundation.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
        }
        return connection
    }

    /// Whether the other end closed it, after what it may have said.
    static func isClosed(_ connection: Int32) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        while true {
            let count = recv(connection, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 { continue }
            return count == 0 || errno == ECONNRESET
        }
    }

    /// What a program of another user is answered.
    static func get(_ url: String, asUser user: Int) throws -> String {
        let (host, path) = (url.dropFirst("http://".count).prefix { $0 != "/" }, url.drop { $0 != ":" }.dropFirst(3))
        let place = host.split(separator: ":")
        let script = """
            exec 3<>/dev/tcp/\(place[0])/\(place[1])
            printf 'GET /%s HTTP/1.1\\r\\nHost: \(host)\\r\\n\\r\\n' '\(path.drop { $0 != "/" }.dropFirst())' >&3
            cat <&3
            """
        return try Shell.run(setpriv, "--reuid", "\(user)", "--clear-groups", "/bin/bash", "-c", script)
    }
}
