import LocalIdentityProvider
import Testing

struct MalformedRequestTests {
    private static let form = ["content-type": "application/x-www-form-urlencoded"]
    private static let good = "client_id=otp-app&username=bo%40example.org&challenge_type=oob%20redirect"

    private func initiate(_ site: Site, _ body: String, headers: [String: String] = form) async throws -> Answer {
        try await site.send("POST", site.tenant + "/oauth2/v2.0/initiate", headers: headers, body: Array(body.utf8))
    }

    @Test(arguments: [
        ("username=bo%40example.org", 90100), (good + "&username=x", 9_900_001),
        (good + "&filler=" + String(repeating: "x", count: 20_000), 9_900_002),
        (good + (0..<80).map { "&p\($0)=1" }.joined(), 9_900_002), (good + "&x=%", 9_900_004),
        (good + "&x=%4", 9_900_004), (good + "&x=%zz", 9_900_004), (good + "&x=%ff%fe", 9_900_004),
        (good + "&x=%00", 9_900_004), ("=x", 90100), ("", 90100), ("&&&", 90100),
    ])
    func `a malformed form gets its documented error`(body: String, number: Int) async throws {
        try await Site.open { site in
            let answer = try await initiate(site, body)
            #expect(answer.status == 400)
            #expect(answer.error == "invalid_request")
            #expect(answer.number == number)
            #expect(try await initiate(site, Self.good).status == 200)
        }
    }

    @Test(arguments: ["application/json", "text/plain", "multipart/form-data; boundary=x", ""])
    func `another content type is refused`(type: String) async throws {
        try await Site.open { site in
            let headers = type.isEmpty ? [:] : ["content-type": type]
            let answer = try await initiate(site, Self.good, headers: headers)
            #expect(answer.status == 400)
            #expect(answer.number == 9_900_003)
        }
    }

    @Test func `a content type with a charset is accepted`() async throws {
        try await Site.open { (site: Site) async throws in
            let type = ["content-type": "application/x-www-form-urlencoded; charset=UTF-8"]
            #expect(try await initiate(site, Self.good, headers: type).status == 200)
        }
    }

    @Test func `a body of 1 MB is refused with and without its length`() async throws {
        try await Site.open { site in
            let body = Self.good + "&x=" + String(repeating: "y", count: 1 << 20)
            let head =
                "POST /fabrikvine/oauth2/v2.0/initiate HTTP/1.1\r\nhost: 127.0.0.1\r\n"
                + "content-type: application/x-www-form-urlencoded\r\n"
            let sized = try await RawClient.exchange(site, [head + "content-length: \(body.utf8.count)\r\n\r\n", body])
            #expect(sized.hasPrefix("HTTP/1.1 413"))
            #expect(sized.contains("9900005"))
            let size = String(body.utf8.count, radix: 16)
            let chunks = [head + "transfer-encoding: chunked\r\n\r\n", "\(size)\r\n\(body)\r\n0\r\n\r\n"]
            #expect(try await RawClient.exchange(site, chunks).hasPrefix("HTTP/1.1 413"))
            #expect(try await initiate(site, Self.good).status == 200)
        }
    }

    @Test(arguments: [
        ["POST /fabrikvine/oauth2/v2.0/initiate HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 500\r\n\r\nclient"],
        ["GET /fabrikvine/v2.0/.well"], ["P"], [],
    ])
    func `a request that stops halfway gets a timeout error`(pieces: [String]) async throws {
        try await Site.open(requestTimeout: 3) { site in
            let answer = try await RawClient.exchange(site, pieces)
            #expect(answer.hasPrefix("HTTP/1.1 408"))
            #expect(answer.contains("9900006"))
            #expect(try await initiate(site, Self.good).status == 200)
        }
    }

    @Test func `a request that drips gets a timeout error`() async throws {
        try await Site.open(requestTimeout: 1) { site in
            let head =
                "POST /fabrikvine/oauth2/v2.0/initiate HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-length: 500\r\n\r\n"
            let clock = ContinuousClock()
            let taken = try await clock.measure {
                let pieces = [head] + Array(repeating: "x", count: 400)
                let answer = try await RawClient.exchange(site, pieces, pause: .milliseconds(100))
                #expect(answer.hasPrefix("HTTP/1.1 408"))
            }
            // To send them all takes longer, on any machine.
            #expect(taken < .seconds(40))
        }
    }

    @Test(arguments: [
        "NOT HTTP AT ALL\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "POST /x HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
        "GET /x HTTP/1.1\r\nhost: 127.0.0.1\r\nx: LONG\r\n\r\n",
        "POST /x HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n", "\0\0\0\0\r\n\r\n",
    ])
    func `bytes that are not HTTP get a bad request`(text: String) async throws {
        try await Site.open(requestTimeout: 2) { site in
            let text = text.replacing("LONG", with: String(repeating: "y", count: 200_000))
            let answer = try await RawClient.exchange(site, [text])
            #expect(["400", "404", "408", "421", "431", ""].contains { answer.dropFirst(9).hasPrefix($0) })
            #expect(!answer.hasPrefix("HTTP/1.1 5"))
            #expect(try await initiate(site, Self.good).status == 200)
        }
    }

    @Test(arguments: ["evil.example", "127.0.0.1.evil.example", "10.0.0.1:80", ""])
    func `a host name that is not loopback is refused`(host: String) async throws {
        try await Site.open { (site: Site) async throws in
            let request = "GET /fabrikvine/discovery/v2.0/keys HTTP/1.1\r\nhost: \(host)\r\nconnection: close\r\n\r\n"
            #expect(try await RawClient.exchange(site, [request]).hasPrefix("HTTP/1.1 421"))
        }
    }

    @Test(arguments: [
        "/", "/x", "/fabrikvine", "/fabrikvine/oauth2", "/tfp/fabrikvine/oauth2/v2.0/token", "//", "/%00/%ff",
    ])
    func `an unknown path is not found`(path: String) async throws {
        try await Site.open { (site: Site) async throws in
            #expect(try await site.get(site.provider.baseURL + path).status == 404)
        }
    }

    @Test func `a wrong method gets an answer that names the right one`() async throws {
        try await Site.open { site in
            let answer = try await site.get(site.tenant + "/oauth2/v2.0/token")
            #expect(answer.status == 405)
            #expect(answer.header("allow") == "POST")
        }
    }

    @Test(arguments: [
        "oauth2/v2.0/token", "oauth2/v2.0/revoke", "oauth2/v2.0/introspection", "oauth2/v2.0/devicecode",
        "signup/v1.0/start", "signup/v1.0/challenge", "signup/v1.0/continue", "oauth2/v2.0/initiate",
        "oauth2/v2.0/challenge", "oauth2/v2.0/introspect", "register/v1.0/introspect", "register/v1.0/challenge",
        "register/v1.0/continue", "resetpassword/v1.0/start", "resetpassword/v1.0/challenge",
        "resetpassword/v1.0/continue", "resetpassword/v1.0/submit", "resetpassword/v1.0/poll_completion",
    ])
    func `every endpoint answers garbage with a JSON error`(path: String) async throws {
        try await Site.open { site in
            let clients = [
                "", "client_id=otp-app", "client_id=otp-app&continuation_token=x&grant_type=oob&oob=1&token=x",
            ]
            for body in clients {
                let url = "\(site.tenant)/\(path)"
                let answer = try await site.send("POST", url, headers: Self.form, body: Array(body.utf8))
                #expect(answer.status < 500)
                if path != "oauth2/v2.0/revoke", path != "oauth2/v2.0/devicecode" {
                    #expect(answer.status == 400 || answer.status == 401, "\(answer)")
                    #expect(answer.error?.isEmpty == false)
                }
            }
        }
    }
}
