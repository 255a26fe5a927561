import Foundation
import HTTPTransport
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

/// An issuer, a store on a PostgreSQL server, and what processes of the example need to use both.
struct FleetScene: Sendable {
    static let ana = (name: "ana@example.org", password: "Quinoa-7-Lunas")

    /// Seconds that an access token lasts.
    static let lifetime = 6

    let provider: LocalIdentityProvider
    let server: TestServer
    let directory: TemporaryDirectory
    private let schema = "s" + UUID().uuidString.lowercased().filter { $0 != "-" }

    static func open(on server: TestServer? = nil, _ body: (FleetScene) async throws -> Void) async throws {
        var configuration = try LocalIdentityProvider.Configuration.forTests
        configuration.seed = try Seed(json: Data(seed.utf8))
        try await LocalIdentityProvider.running(configuration) { provider in
            let server = try server ?? TestServer.shared.get()
            let scene = FleetScene(provider: provider, server: server, directory: try TemporaryDirectory())
            try scene.directory.write(
                Data((0..<32).map { _ in UInt8.random(in: 0...255) }).base64EncodedString(),
                to: "cookie"
            )
            try Shell.run(
                program("tokenstore"),
                "init",
                "--store",
                "postgresql://owner@/tests?host=\(server.directory)&port=\(server.port)&schema=\(scene.schema)",
                "--key",
                scene.key,
                "--application-role",
                "trusted"
            )
            try await body(scene)
        }
    }

    private init(provider: LocalIdentityProvider, server: TestServer, directory: TemporaryDirectory) {
        (self.provider, self.server, self.directory) = (provider, server, directory)
    }

    private var key: String { "file:" + directory.file("key") }

    /// How often the issuer was asked for tokens.
    var tokenRequests: Int { provider.audit.count(of: "token") }

    /// Starts a process; browsers come back from the issuer to `front`, or to it.
    func start(front: Node? = nil, _ more: [String] = []) async throws -> Node {
        let port = try UnusedPort().number
        let arguments =
            [
                "--listen", "127.0.0.1:\(port)", "--key", key, "--cookie-key", directory.file("cookie"),
                "--issuer", provider.baseURL + "/tfp/\(Self.tenant)/b2c_1_members/v2.0/", "--client-id", "fleet",
                "--scope", "api://tasks/Tasks.Read", "--api", provider.baseURL + "/api1",
            ] + (front.map { ["--public-url", $0.url] } ?? []) + more
        let store = "postgresql://trusted@127.0.0.1:\(server.port)/tests?schema=\(schema)"
        let node = try Node(arguments, store: store, url: "http://127.0.0.1:\(port)", in: directory)
        try await eventually("a process that answers: \(node.errors)") {
            guard node.isRunning else { throw ExpectationFailure("a process that runs: \(node.errors)") }
            return node.output.contains("listening at \(node.url)")
        }
        return node
    }

    /// A program of this build.
    static func program(_ name: String) -> String {
        let directory =
            Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }?.bundleURL.deletingLastPathComponent()
            ?? Bundle.main.bundleURL
        return directory.appending(path: name).path
    }

    private static let tenant = "3c0e7a52-41d6-4f5b-8a2e-90b1c2d3e4f5"

    private static let seed = """
        {"tenants": [{
          "id": "\(tenant)", "domain": "fleet.example", "algorithm": "ES256",
          "clients": [{"id": "fleet", "name": "Fleet", "redirectURIs": ["http://127.0.0.1/callback"]}],
          "policies": [{"name": "b2c_1_members", "accessTokenLifetime": \(lifetime)}],
          "resources": [{"identifier": "api://tasks", "audience": "6f1d2c3b-0001-4a5b-8c6d-7e8f90a1b2c3",
                         "path": "api1", "scopes": [{"value": "Tasks.Read"}]}],
          "users": [{"email": "\(ana.name)", "password": "\(ana.password)",
                     "attributes": {"displayName": "Ana <Rojas> & \\"Co\\" \\u0d4e<em\\u0d4e>"}}]
        }]}
        """
}

/// One process of the example.
final class Node: Sendable {
    let url: String
    private let process: Process
    private let directory: TemporaryDirectory
    private let name = UUID().uuidString

    init(_ arguments: [String], store: String, url: String, in directory: TemporaryDirectory) throws {
        (self.url, self.directory, process) = (url, directory, Process())
        process.executableURL = URL(filePath: FleetScene.program("FleetExample"))
        process.arguments = arguments
        process.environment = ["PATH": "/usr/bin:/bin", "HOME": directory.path, "TOKENSTORE_DATABASE_URL": store]
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: URL(filePath: directory.write("", to: name + ".out")))
        process.standardError = try FileHandle(forWritingTo: URL(filePath: directory.write("", to: name + ".err")))
        try process.run()
    }

    deinit { send(SIGKILL) }

    var isRunning: Bool { process.isRunning }
    var output: String { text(".out") }
    var errors: String { text(".err") }

    func send(_ signal: Int32) {
        if process.isRunning { kill(process.processIdentifier, signal) }
    }

    /// Waits for its end and returns its exit status.
    func end() async throws -> Int32 {
        try await eventually("a process that ends: \(errors)") { !process.isRunning }
        return process.terminationStatus
    }

    /// Asks for a page with cookies of a browser.
    func get(_ path: String, cookies: String?) async throws -> (status: Int, page: String) {
        let headers: HTTPHeaders = cookies.map { ["cookie": $0] } ?? [:]
        let limits = HTTPLimits(head: .seconds(120), total: .seconds(120), bodySize: 1 << 20)
        let response = try await AsyncHTTPTransport().send(
            HTTPRequest("GET", url + path, headers: headers),
            limits: limits
        )
        return (response.status, response.body.reveal())
    }

    private func text(_ end: String) -> String {
        (try? String(contentsOfFile: directory.file(name + end), encoding: .utf8)) ?? ""
    }
}
