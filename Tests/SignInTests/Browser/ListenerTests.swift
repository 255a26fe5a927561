import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import OpenIDConnect
import SignIn
import Synchronization
import TestSupport
import Testing

struct ListenerTests {
    @Test func `requests that are not an answer are refused, and the sign-in continues`() async throws {
        try await SignInScene.open { scene in
            let statuses = Mutex<[Int]>([])
            let visitor = try ScriptedBrowser()
            let agent = ReactingUser { address in
                let sent = parameters(of: address)
                let place = sent["redirect_uri"] ?? ""
                let state = sent["state"] ?? ""
                let headers: HTTPHeaders = ["host": "evil.example"]
                for request in [
                    HTTPRequest("GET", place + "favicon.ico"), HTTPRequest("GET", place),
                    HTTPRequest("POST", place, body: Secret("code=x&state=\(state)")),
                    HTTPRequest("HEAD", "\(place)?code=x&state=\(state)"),
                    HTTPRequest("GET", "\(place)?code=x&state=\(state)", headers: headers),
                    HTTPRequest("GET", place + "?code=x&state=guessed"), HTTPRequest("GET", place + "?error=x"),
                    HTTPRequest("GET", "\(place)?code=%zz&state=guessed"),
                    HTTPRequest("GET", "\(place)?code=x&state=\(state)&state=guessed"),
                ] {
                    let response = try await SignInScene.transport.send(request, limits: .issuer)
                    statuses.withLock { $0.append(response.status) }
                }
                try await visitor.open(address)
                try await visitor.signIn(SignInScene.ana, SignInScene.anasPassword)
            }
            let result = try await scene.application(agent).acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            #expect(result.account.name == "Ana Rojas")
            #expect(statuses.withLock(\.self) == [404, 404, 405, 405, 404, 400, 400, 400, 400])
        }
    }

    @Test(arguments: [
        "http://localhost/", "http://127.0.0.1/signed-in/here", "http://127.0.0.1", "HTTP://LocalHost/Here",
    ])
    func `the listener uses the registered address with a free port`(redirectURI: String) async throws {
        let issuer = try ForgedIssuer()
        let result = try await issuer.signIn(redirectURI: redirectURI) { try $0.genuine($0.claims(nonce: $1)) }
        #expect(result.account.name == "Noa Vidal")
        #expect(issuer.asked("redirect_uri")?.replacing(/:[0-9]+/, with: "") == redirectURI)
    }

    @Test func `a sign-in without an answer times out and frees its port`() async throws {
        try await SignInScene.open { scene in
            let place = Mutex("")
            var request = InteractiveRequest(scope: SignInScene.toDo)
            request.timeLimit = .milliseconds(200)
            let agent = ReactingUser { address in place.withLock { $0 = parameters(of: address)["redirect_uri"] ?? "" }
            }
            let error = try await signInError { _ = try await scene.application(agent).acquireToken(request) }
            #expect(error == .timedOut)
            let again = HTTPRequest("GET", place.withLock(\.self) + "?code=x")
            await #expect(throws: HTTPTransportError.self) {
                try await SignInScene.transport.send(again, limits: .issuer)
            }
            #expect(try scene.isUntouched)
        }
    }

    @Test func `a sign-in that fails before its page is shown frees its port`() async throws {
        let issuer = try ForgedIssuer()
        let redirectURI = "http://127.0.0.1:\(try UnusedPort().number)/"
        let genuine = { @Sendable (issuer: ForgedIssuer, nonce: String) throws in
            try issuer.genuine(issuer.claims(nonce: nonce))
        }
        let error = try await signInError {
            _ = try await issuer.signIn(redirectURI: redirectURI, dpop: .required, idToken: genuine)
        }
        #expect(error?.dpopError?.code == .unsupported)
        #expect(!issuer.hasAsked)
        let result = try await issuer.signIn(redirectURI: redirectURI, idToken: genuine)
        #expect(result.account.name == "Noa Vidal")
    }

    @Test func `a cancelled task or sign-in ends at once`() async throws {
        try await SignInScene.open { scene in
            let (opened, continuation) = AsyncStream<Void>.makeStream()
            let application = try scene.application(ReactingUser { _ in continuation.yield() })
            for cancelsTask in [true, false] {
                let task = Task {
                    try await signInError {
                        _ = try await application.acquireToken(InteractiveRequest(scope: SignInScene.toDo))
                    }
                }
                for await _ in opened.prefix(1) { break }
                let second = try await signInError {
                    _ = try await application.acquireToken(InteractiveRequest(scope: SignInScene.toDo))
                }
                #expect(second == .alreadyRunning)
                if cancelsTask { task.cancel() } else { #expect(application.cancelSignIn()) }
                #expect(try await task.value == .cancelled)
            }
            #expect(!application.cancelSignIn())
        }
    }

    @Test func `a flood of connections and forged answers does not disturb a sign-in`()
        async throws
    {
        let issuer = try ForgedIssuer()
        let idle = Mutex<[Int32]>([])
        defer { for connection in idle.withLock(\.self) { close(connection) } }
        let result = try await issuer.signIn { issuer, nonce in
            let place = issuer.asked("redirect_uri") ?? ""
            let port = UInt16(place.split(separator: ":").last?.prefix { $0.isNumber } ?? "") ?? 0
            for number in 0..<150 {
                let request = "GET /?code=\(number)&state=guessed HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n"
                // Most never come to their end.
                let connection = try LoopbackClient.send(request + (number % 5 == 0 ? "\r\n" : ""), to: port)
                idle.withLock { $0.append(connection) }
            }
            return try issuer.genuine(issuer.claims(nonce: nonce))
        }
        #expect(result.account.name == "Noa Vidal")
        try await eventually("room for newer connections") {
            idle.withLock { $0.prefix(50).allSatisfy(LoopbackClient.isClosed) }
        }
    }

    @Test func `an answer that was taken counts, however late its page is sent`() async throws {
        let pendingRedirect = PendingRedirect(state: Secret("s"))
        let answer = AuthorizationResponse("state=s&code=c".utf8)
        #expect(pendingRedirect.reserve(for: answer) == .taken)
        #expect(!pendingRedirect.cancel())
        let waiting = Task { try await pendingRedirect.answer(within: .zero) }
        // By the time limit of one that waits for longer, that of the other has passed.
        await #expect(throws: SignInError.timedOut) {
            try await PendingRedirect(state: Secret("other")).answer(within: .milliseconds(50))
        }
        #expect(pendingRedirect.outcome == nil)
        pendingRedirect.deliver(answer)
        #expect(try await waiting.value["code"] == Secret("c"))
    }

    @Test func `a port that another program has of the second family is in use`() async throws {
        // Without such an address there is nothing to take.
        guard let (socket, port) = try LoopbackSocket.listenerOfIPv6() else { return }
        defer { close(socket) }
        try await SignInScene.open { scene in
            let application = try scene.application(AbsentUser(), redirectURI: "http://localhost:\(port)/")
            let error = try await signInError {
                _ = try await application.acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            }
            #expect(error?.code == .noListener)
            #expect(error?.problem == "port \(port) of ::1 cannot be listened on (address already in use)")
        }
    }

    @Test func `a given port is used, and one in use is an error`() async throws {
        try await SignInScene.open { scene in
            let server = try RawServer("HTTP/1.1 200 OK\r\n\r\n")
            defer { server.stop() }
            let application = try scene.application(AbsentUser(), redirectURI: "http://127.0.0.1:\(server.port)/")
            let error = try await signInError {
                _ = try await application.acquireToken(InteractiveRequest(scope: SignInScene.toDo))
            }
            #expect(error?.code == .noListener)
            let reason = "cannot be listened on (address already in use)"
            #expect(error?.problem == "port \(server.port) of 127.0.0.1 \(reason)")
            #expect(error?.remedy == .correct("free it or use another"))
        }
    }
}
