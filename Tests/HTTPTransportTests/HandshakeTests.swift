import Foundation
import HTTPTransport
import OAuth
import TestSupport
import TestTraits
import Testing

/// What becomes of a TLS handshake that fails.
@Suite(.onWaitingThreads)
struct HandshakeTests {
    private static let limits = HTTPLimits(head: .seconds(40), total: .seconds(40), bodySize: 100_000)

    /// The error of a request to a port of this machine, where the authority of `caFile` is trusted.
    private func error(
        _ port: Int,
        host: String = "127.0.0.1",
        trusting caFile: String? = nil
    ) async throws -> HTTPTransportError {
        let transport = AsyncHTTPTransport(options: HTTPTransportOptions(caFile: caFile))
        let request = HTTPRequest("GET", "https://\(host):\(port)/")
        let error = await #expect(throws: HTTPTransportError.self) {
            try await transport.send(request, limits: Self.limits)
        }
        return try #require(error)
    }

    @Test(
        .enabled(if: PrivateAuthority.isAvailable, "needs openssl"),
        arguments: ["-tls1", "-tls1_1", "-tls1_2", "-tls1_3"]
    )
    func `TLS below 1.2 is refused for good`(version: String) async throws {
        let server = try await TLSServer.start(version)
        defer { server.stop() }
        if version == "-tls1" || version == "-tls1_1" {
            let error = try await error(server.port, trusting: server.authority.path)
            #expect(error.code == .noTLS, "\(error)")
            #expect(error.problem.hasSuffix(" speaks no version of TLS that is accepted, which are 1.2 and 1.3"))
            #expect(!error.mayHaveTakenEffect)
            #expect(!error.isTransient)
        } else {
            let transport = AsyncHTTPTransport(options: HTTPTransportOptions(caFile: server.authority.path))
            let request = HTTPRequest("GET", "https://127.0.0.1:\(server.port)/")
            #expect(try await transport.send(request, limits: Self.limits).status == 200)
        }
    }

    @Test(.enabled(if: PrivateAuthority.isAvailable, "needs openssl"), arguments: PrivateAuthority.KeyType.allCases)
    func `a certificate of another CA of the same name is not trusted`(keys: PrivateAuthority.KeyType) async throws {
        let server = try await TLSServer.start { try PrivateAuthority(keys: keys) }
        defer { server.stop() }
        let other = try PrivateAuthority(keys: keys)
        defer { withExtendedLifetime(other) {} }
        let error = try await error(server.port, trusting: other.path)
        #expect(error.code == .notTrusted, "\(error)")
        #expect(error.remedy?.code == .trustAuthority)
        #expect(!error.mayHaveTakenEffect)
        #expect(!error.isTransient)
    }

    @Test(.enabled(if: PrivateAuthority.isAvailable, "needs openssl"))
    func `to look at a refused certificate once more takes no time that the caller has not given`() async throws {
        let server = try await TLSServer.start()
        defer { server.stop() }
        let (silent, silentPort) = try LoopbackSocket.listener()
        defer { close(silent) }
        // A busy machine may stop for longer than any limit. One try shows it, as no look that is left to itself ends
        // within five seconds.
        var others: [String] = []
        for _ in 0..<20 {
            let way = try DelayingProxy(to: server.port, roundTrip: .milliseconds(600))
            defer { way.stop() }
            let limits = HTTPLimits(head: .seconds(3), total: .seconds(3), bodySize: 1)
            let request = HTTPRequest("GET", "https://127.0.0.1:\(way.port)/")
            let start = ContinuousClock.now
            let answer = Task { try await AsyncHTTPTransport().send(request, limits: limits) }
            for _ in 0..<2_000 where way.messages == 0 { try await Task.sleep(for: .milliseconds(5)) }
            way.lead(to: silentPort)
            let error = try await #require(throws: HTTPTransportError.self) { try await answer.value }
            let duration = ContinuousClock.now - start
            if error.code == .notTrusted, duration < .seconds(5) {
                #expect(!error.mayHaveTakenEffect)
                return
            }
            others.append("\(error.code) after \(duration)")
        }
        Issue.record("\(others)")
    }

    @Test(.enabled(if: PrivateAuthority.isAvailable, "needs openssl"))
    func `the error of a certificate for another name says so`() async throws {
        let server = try await TLSServer.start { try PrivateAuthority(names: "DNS:other.example") }
        defer { server.stop() }
        let error = try await error(server.port, trusting: server.authority.path)
        #expect(error.code == .notTrusted)
        #expect(error.problem == "the certificate of 127.0.0.1:\(server.port) is for another name")
        #expect(error.remedy?.code == .checkSource)
    }

    @Test(.enabled(if: PrivateAuthority.isAvailable, "needs openssl"))
    func `a certificate for the address of a server is not one for its name`() async throws {
        let server = try await TLSServer.start { try PrivateAuthority(names: "IP:127.0.0.1") }
        defer { server.stop() }
        let error = try await error(server.port, host: "localhost", trusting: server.authority.path)
        #expect(error.code == .notTrusted, "\(error)")
        #expect(error.problem == "the certificate of localhost:\(server.port) is for another name")
        #expect(!error.mayHaveTakenEffect)
        #expect(!error.isTransient)
    }

    @Test(.enabled(if: PrivateAuthority.isAvailable, "needs openssl"))
    func `a certificate for the name or the address asked for is accepted`() async throws {
        let server = try await TLSServer.start()
        defer { server.stop() }
        let transport = AsyncHTTPTransport(options: HTTPTransportOptions(caFile: server.authority.path))
        for host in ["localhost", "127.0.0.1", "localhost"] {
            let request = HTTPRequest("GET", "https://\(host):\(server.port)/")
            #expect(try await transport.send(request, limits: Self.limits).status == 200)
        }
    }

    @Test(arguments: ["TLSV1_ALERT_CERTIFICATE_REQUIRED", "TLSV1_ALERT_UNKNOWN_CA", "SSLV3_ALERT_HANDSHAKE_FAILURE"])
    func `an alert about what the client showed is a refusal, and other errors are none`(alert: String) {
        let prefix = "Error: 1 error:1:SSL routines:OPENSSL_internal:"
        #expect(HandshakeFailure(["\(prefix)\(alert) at a.cc:1"]).isRefusalOfClient)
        #expect(!HandshakeFailure(["\(prefix)BAD_DECRYPT at a.cc:1"]).isRefusalOfClient)
    }

    @Test func `an answer without TLS is refused for good`() async throws {
        let server = try PlainServer(["HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"])
        defer { server.stop() }
        let error = try await error(server.port)
        #expect(error.code == .noTLS, "\(error)")
        #expect(error.reason == "its answer is not TLS")
        #expect(!error.isTransient)
    }

    @Test func `a connection that ends in the handshake is worth another attempt`() async throws {
        let server = try PlainServer([""])
        defer { server.stop() }
        let error = try await error(server.port)
        #expect(error.isTransient, "\(error)")
    }

    @Test(
        arguments: [
            (["RSA routines:OPENSSL_internal:BLOCK_TYPE_IS_NOT_01"], "CERTIFICATE_VERIFY_FAILED", .notTrusted),
            (["ECDSA routines:OPENSSL_internal:BAD_SIGNATURE"], "CERTIFICATE_VERIFY_FAILED", .notTrusted),
            (["public key routines:OPENSSL_internal:DECODE_ERROR"], "CANNOT_PARSE_LEAF_CERT", .notTrusted),
            ([], "CERTIFICATE_VERIFY_FAILED", .notTrusted), ([], "BAD_SIGNATURE", .notTrusted),
            ([], "UNSUPPORTED_PROTOCOL", .noTLS), ([], "TLSV1_ALERT_PROTOCOL_VERSION", .noTLS),
            ([], "WRONG_VERSION_NUMBER", .noTLS), ([], "SSLV3_ALERT_HANDSHAKE_FAILURE", .noTLS),
            ([], "TLSV1_ALERT_CERTIFICATE_REQUIRED", .noTLS), ([], "SSLV3_ALERT_BAD_CERTIFICATE", .noTLS),
        ] as [([String], String, HTTPTransportError.Code)]
    )
    func `a failed handshake is judged by all of its errors`(
        first: [String],
        last: String,
        code: HTTPTransportError.Code
    ) {
        let names = first + ["SSL routines:OPENSSL_internal:\(last)"]
        let error = HandshakeFailure(names.map { "Error: 1 error:00000001:\($0) at a.cc:1" }).error(at: "h")
        #expect(error.code == code)
        #expect(!error.isTransient)
        #expect(!error.problem.contains("_"))
    }
}

/// Answers what comes first on every connection, such as a greeting by TLS, with a text, what comes then with the next
/// one, and ends it.
struct PlainServer {
    let port: Int
    private let descriptor: Int32

    init(_ answers: [String]) throws {
        (descriptor, port) = try LoopbackSocket.listener()
        Thread.detachNewThread { [descriptor] in
            while case let connection = LoopbackSocket.client(of: descriptor), connection >= 0 {
                var greeting = [UInt8](repeating: 0, count: 65_536)
                for answer in answers {
                    _ = recv(connection, &greeting, greeting.count, 0)
                    _ = Data(answer.utf8).withUnsafeBytes { bytes in
                        send(connection, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL))
                    }
                }
                shutdown(connection, Int32(SHUT_WR))
                // Until the client ends it too: closed before, what was sent could be lost.
                while recv(connection, &greeting, greeting.count, 0) > 0 {}
                close(connection)
            }
            close(descriptor)
        }
    }

    func stop() { shutdown(descriptor, Int32(SHUT_RDWR)) }
}

/// OpenSSL's own server.
private struct TLSServer {
    let authority: PrivateAuthority
    let port: Int
    private let process = Process()

    /// Waits on its own thread: other tests need the threads of the pool.
    static func start(
        _ options: String...,
        authority: @escaping @Sendable () throws -> PrivateAuthority = { try PrivateAuthority() }
    ) async throws -> TLSServer {
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread {
                continuation.resume(with: Result { try TLSServer(options, authority()) })
            }
        }
    }

    private init(_ options: [String], _ authority: PrivateAuthority) throws {
        self.authority = authority
        // Into a pipe it would keep back what it says.
        process.executableURL = URL(filePath: "/usr/bin/stdbuf")
        process.arguments =
            [
                "-oL", "/usr/bin/openssl", "s_server", "-www", "-accept", "127.0.0.1:0", "-cert", authority.chain,
                "-key",
                authority.key, "-cipher", "DEFAULT:@SECLEVEL=0",
            ] + options
        let output = Pipe()
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        // It says `ACCEPT 127.0.0.1:PORT` once it listens.
        var said = ""
        while !said.contains("ACCEPT") || !said.hasSuffix("\n") {
            let more = output.fileHandleForReading.availableData
            guard !more.isEmpty else { throw POSIXError(.ECHILD) }
            said += String(decoding: more, as: UTF8.self)
        }
        port = said.split { !$0.isNumber }.last.flatMap { Int($0) } ?? 0
    }

    func stop() {
        // Threads that were started for tests have signals blocked, which a program started from them inherits.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}
