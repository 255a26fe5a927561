import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct StartTests {
    /// The built program beside this test bundle.
    static var binary: String {
        let folder = Bundle.main.executableURL?.deletingLastPathComponent()
        let candidates = [folder, folder?.deletingLastPathComponent()].compactMap {
            $0?.appending(path: "local-idp").path
        }
        return candidates.first(where: FileManager.default.isExecutableFile(atPath:)) ?? "local-idp"
    }

    @Test(arguments: ["0.0.0.0", "::", "192.168.1.5", "localhost", "127.0.0.2"])
    func `any address but the two of loopback is refused`(host: String) async throws {
        var configuration = LocalIdentityProvider.Configuration()
        configuration.hosts = [host]
        await #expect(throws: StartError.address(host)) { try await LocalIdentityProvider.start(configuration) }
    }

    @Test func `both families answer at one port`() async throws {
        try await Site.open { site in
            #expect(site.provider.addresses.count == 2)
            for address in site.provider.addresses {
                let answer = try await site.get(address + "/fabrikvine/v2.0/.well-known/openid-configuration")
                #expect(try answer.text("issuer").hasPrefix(site.provider.baseURL))
            }
        }
    }

    @Test func `a port in use is reported and nothing is left behind`() async throws {
        try await Site.open { (site: Site) async throws in
            var configuration = LocalIdentityProvider.Configuration()
            configuration.port = Int(site.provider.baseURL.split(separator: ":").last ?? "") ?? 0
            let error = await #expect(throws: StartError.self) { try await LocalIdentityProvider.start(configuration) }
            #expect(error == .bind("port \(configuration.port), Address already in use"))
            #expect(try await site.signInWithPassword().status == 200)
        }
    }

    @Test(arguments: [
        ("{", "not valid JSON"), (#"{"tenants":[]}"#, "no tenant"), (#"{"tenants":[{"id":"x"}]}"#, "domain"),
        (#"{"tenants":[{"id":"x","domain":"d","attributes":[{"name":"a","regex":"["}]}]}"#, "regex"),
        (#"{"tenants":[{"id":"x","domain":"d","policies":[{"name":"a b"}]}]}"#, "policy name"),
        (
            #"{"tenants":[{"id":"x","domain":"d","clients":[{"id":"c","attributePages":[[{"name":"z"}]]}]}]}"#,
            "not defined"
        ),
    ])
    func `a seed that cannot work says where`(json: String, reason: String) throws {
        let error = #expect(throws: StartError.self) { try Seed(json: Data(json.utf8)) }
        #expect(error.map { "\($0)".contains(reason) } == true, "\(String(describing: error))")
    }

    /// Runs the program until `test` is done with the line it printed.
    private func program(_ arguments: [String], _ test: (JSONValue) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let output = URL(filePath: try directory.write("", to: "output"))
        let process = Process()
        process.executableURL = URL(filePath: Self.binary)
        process.arguments = ["--port", "0"] + arguments
        process.standardOutput = try FileHandle(forWritingTo: output)
        try process.run()
        defer { kill(process.processIdentifier, SIGKILL) }
        try await test(JSONValue(parsing: Self.line(of: output)))
    }

    @Test func `the program prints one line of JSON and serves the seed it was given`() async throws {
        let directory = try TemporaryDirectory()
        let seed = #"{"tenants":[{"id":"t-1","domain":"small.example","clients":[{"id":"c"}]}]}"#
        let file = try directory.write(seed, to: "seed.json")
        try await program(["--admin-key", "random", "--seed", file]) { announced in
            let address = announced["addresses"].array?.first?.text ?? ""
            let key = announced["adminKey"].text ?? ""
            #expect(key.count == 36)
            let metadata = try await Site.get(address + "/small.example/v2.0/.well-known/openid-configuration")
            #expect(try metadata.text("issuer") == address + "/t-1/v2.0")
            let audit = try await Site.get(address + "/admin/audit", headers: ["x-admin-key": key])
            #expect(audit["counts"]["metadata"] == 1)
        }
    }

    @Test(.enabled(if: PrivateAuthority.isAvailable, "needs openssl"))
    func `the program speaks TLS with the certificate it was given`() async throws {
        let authority = try PrivateAuthority()
        try await program(["--tls", authority.chain, authority.key]) { announced in
            let addresses = announced["addresses"].array?.compactMap(\.text) ?? []
            #expect(addresses.allSatisfy { $0.hasPrefix("https://") })
            let openssl = try #require(Program("openssl"))
            for address in addresses {
                let peer = String(address.dropFirst("https://".count))
                let arguments = ["s_client", "-connect", peer, "-CAfile", authority.path, "-verify_return_error"]
                let result = try await openssl.run(arguments)
                #expect(result.status == 0, "\(result)")
                #expect(result.output.contains("Verify return code: 0"), "\(result)")
            }
        }
    }

    static func line(of file: URL) async throws -> String {
        var text = ""
        try await eventually("the program's line") {
            text = try String(contentsOf: file, encoding: .utf8)
            return text.hasSuffix("\n")
        }
        return text
    }

    @Test(arguments: [
        (["--host", "0.0.0.0"], "not a loopback address"), (["--port", "70000"], "0 to 65535"),
        (["--tls", "one.pem"], "CERT KEY"), (["--tls", "no.pem", "no.key"], "certificate or key"),
        (["--seed", "/dev/null"], "seed cannot be used"), (["--admin-key", ""], "--admin-key is empty"),
    ])
    func `the program refuses what it cannot do`(arguments: [String], reason: String) async throws {
        let program = try #require(Program(Self.binary))
        let result = try await program.run(arguments + (arguments[0] == "--port" ? [] : ["--port", "0"]))
        #expect(result.status != 0, "\(result)")
        #expect(result.errors.contains(reason), "\(result)")
        #expect(result.output.isEmpty)
    }

    @Test func `the program shows its standard seed, which it can read again`() async throws {
        let program = try #require(Program(Self.binary))
        let result = try await program.run(["--print-seed"])
        #expect(result.status == 0)
        #expect(try Seed(json: Data(result.output.utf8)).tenants.count == 2)
    }
}
