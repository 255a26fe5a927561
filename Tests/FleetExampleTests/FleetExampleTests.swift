import Foundation
import IssuerSupport
import LocalIdentityProvider
import TestSupport
import TestTraits
import Testing

/// The example as people see it: several processes on one PostgreSQL server, and browsers that meet any of them.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct FleetExampleTests {
    /// A browser in which Ana is signed in, having begun at one process and come back to another.
    private func signedIn(_ first: Node) async throws -> ScriptedBrowser {
        let browser = try ScriptedBrowser()
        try await browser.open(first.url + "/login")
        guard await browser.heading == "Sign in" else { throw ExpectationFailure("a page: \(await browser.page)") }
        try await browser.signIn(FleetScene.ana.name, FleetScene.ana.password)
        return browser
    }

    @Test func `three processes are one app, also when one is killed`() async throws {
        try await FleetScene.open { scene in
            let second = try await scene.start()
            let first = try await scene.start(front: second)
            let third = try await scene.start(front: second)
            // Signed in: begun at the first, come back to the second, used at the third.
            let browser = try await signedIn(first)
            let place = await browser.address
            #expect(place == second.url + "/")
            #expect(await browser.heading.hasPrefix("Signed in as Ana &lt;Rojas&gt; &amp; &quot;Co&quot;"))
            try await browser.open(third.url + "/me")
            #expect(await browser.page.contains("Tasks.Read"))
            // Killed: the session goes on at the others.
            first.send(SIGKILL)
            _ = try await first.end()
            for node in [second, third] {
                try await browser.open(node.url + "/")
                #expect(await browser.heading.hasPrefix("Signed in as Ana"))
            }
            try await refreshOnce(scene, [second, third], browser)
            // Signed out at one: signed out at all.
            let cookies = await browser.cookies(for: second.url)
            try await browser.open(second.url + "/")
            try await browser.press("")
            #expect(await browser.heading == "Signed out")
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            #expect(try await third.get("/", cookies: cookies).page.contains("Signed out"))
            #expect(try await third.get("/me", cookies: cookies).status == 401)
            third.send(SIGTERM)
            let status = try await third.end()
            #expect(status == 0, "\(third.errors)")
        }
    }

    /// When the access token has ended, all processes are asked at once, and the issuer once.
    private func refreshOnce(_ scene: FleetScene, _ nodes: [Node], _ browser: ScriptedBrowser) async throws {
        let end = ContinuousClock.now + .seconds(FleetScene.lifetime)
        try await Task.sleep(until: end)
        let (before, start) = (scene.tokenRequests, ContinuousClock.now)
        let cookies = await browser.cookies(for: nodes[0].url)
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for node in nodes + nodes + nodes { group.addTask { try await node.get("/me", cookies: cookies).status } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 3 * nodes.count))
        // On a machine so busy that a token ends meanwhile, its end asks for one more.
        let ended = Int((ContinuousClock.now - start) / .seconds(FleetScene.lifetime))
        #expect(before + 1...before + 1 + ended ~= scene.tokenRequests)
    }

    @Test func `cookies are for this app alone, and hold no token`() async throws {
        try await FleetScene.open { scene in
            let node = try await scene.start()
            let browser = try await signedIn(node)
            let set = await browser.cookiesSet.filter { $0.hasPrefix("fleet-") && !$0.contains("Max-Age=0") }
            #expect(set.map { $0.prefix { $0 != "=" } } == ["fleet-sign-in", "fleet-session"])
            for cookie in set {
                #expect(cookie.contains("HttpOnly"))
                #expect(cookie.contains("SameSite=Lax"))
                #expect(!cookie.contains("Secure"))
                #expect(cookie.utf8.count < 4_000)
            }
            let first = try #require(await browser.cookies(for: node.url))
            #expect(!first.contains("fleet-sign-in"))
            // The next sign-in makes another session, and ends the one that the browser had.
            try await browser.open(node.url + "/login")
            let second = try #require(await browser.cookies(for: node.url))
            #expect(second != first)
            #expect(try await node.get("/", cookies: second).page.contains("Signed in as"))
            #expect(try await node.get("/", cookies: first).page.contains("Signed out"))
            // One letter changed, or one cookie in the place of the other.
            let value = second.split(separator: "fleet-session=")[1].prefix { $0 != ";" }
            let changed = String(value.dropLast(8)) + (value.hasSuffix("AAAAAAAA") ? "BBBBBBBB" : "AAAAAAAA")
            for cookie in ["fleet-session=\(changed)", "fleet-session=", "fleet-session=é%00"] {
                #expect(try await node.get("/", cookies: cookie).page.contains("Signed out"), "\(cookie)")
            }
            let misplaced = try await node.get("/callback?code=x&state=y", cookies: "fleet-sign-in=\(value)")
            #expect(misplaced.status == 400)
        }
    }

    @Test func `what another site makes a browser do has no effect`() async throws {
        try await FleetScene.open { scene in
            let node = try await scene.start()
            let browser = try await signedIn(node)
            // Signed out only by the form of this session.
            let page = await browser.page
            let (_, other) = (page, try await signedIn(node))
            let stolen = try #require(await other.page.firstMatch(of: /name="token" value="([^"]*)"/)).1
            for token in ["", "x", String(stolen)] {
                let cookies = try #require(await browser.cookies(for: node.url))
                let status = try Shell.run(
                    "/usr/bin/curl",
                    "-s",
                    "-o",
                    "/dev/null",
                    "-w",
                    "%{http_code}",
                    "-H",
                    "Cookie: " + cookies,
                    "--data-urlencode",
                    "token=" + token,
                    node.url + "/logout"
                )
                #expect(status == "403")
                try await browser.open(node.url + "/")
                #expect(await browser.heading.hasPrefix("Signed in"))
            }
            try await browser.open(node.url + "/logout")
            #expect(await [404, 405].contains(browser.status))
            // An answer that someone else got, in a browser that began nothing, or something else.
            let stranger = try ScriptedBrowser()
            try await stranger.open(node.url + "/callback?code=x&state=y")
            #expect(await stranger.status == 400)
            try await stranger.open(node.url + "/login")
            let before = scene.tokenRequests
            try await stranger.open(node.url + "/callback?code=x&state=y")
            #expect(await stranger.status == 400)
            #expect(scene.tokenRequests == before)
            try await stranger.open(node.url + "/")
            #expect(await stranger.heading == "Signed out")
        }
    }

    @Test func `a name is text in a page, whatever stands before its brackets`() async throws {
        try await FleetScene.open { scene in
            let node = try await scene.start()
            let browser = try await signedIn(node)
            // By bytes, as browsers read it: for Swift the letter and the bracket behind it are one character.
            let page = Data(await browser.page.utf8)
            #expect(page.holds(Data("&lt;em".utf8)))
            #expect(!page.holds(Data("<em".utf8)))
        }
    }

    @Test func `a database that is gone signs nobody out`() async throws {
        let server = try TestServer()
        defer { server.stop() }
        try await FleetScene.open(on: server) { scene in
            let node = try await scene.start()
            let cookies = await (try signedIn(node)).cookies(for: node.url)
            #expect(try await node.get("/", cookies: cookies).page.contains("Signed in as"))
            try server.kill()
            for path in ["/", "/me"] {
                let answer = try await node.get(path, cookies: cookies)
                #expect(answer.status == 503)
                #expect(!answer.page.contains("Signed out"))
            }
            #expect(node.isRunning)
        }
    }

    @Test func `the server that the guide makes keeps every letter, whatever the locale`() throws {
        let guide = Repository.root.appending(path: "Sources/TokenStorage/TokenStorage.docc/Fleet.md")
        let lines = try String(contentsOf: guide, encoding: .utf8).split(separator: "\n")
        let making = try #require(lines.first { $0.hasPrefix("initdb ") })
        let script = """
            fleet=$(mktemp -d)
            trap 'rm -rf "$fleet"' EXIT
            \(making)
            echo 'SHOW server_encoding' | postgres --single -D "$fleet/data" postgres
            """
        // With no locale, as in a container.
        let run = TestServer.unprivileged + #"env -i PATH="$0:/usr/bin:/bin" /bin/sh -ec "$1""#
        let said = try Shell.run("/bin/sh", "-c", run, TestServer.programs ?? "", script)
        #expect(said.contains(#"server_encoding = "UTF8""#), "\(said)")
    }

    @Test(arguments: ["0.0.0.0:8081", "127.0.0.1", "127.0.0.1:0", "example.com:80"])
    func `plain http is for loopback alone`(address: String) throws {
        let names = ["cookie-key", "issuer", "client-id", "api", "scope"]
        let arguments = ["--listen", address] + names.flatMap { ["--" + $0, "x"] }
        let failure = #expect(throws: Shell.Failure.self) {
            try Shell.run(FleetScene.program("FleetExample"), arguments)
        }
        #expect(failure?.message.contains("plain http is for loopback alone") == true)
    }
}
