import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct RefreshTests {
    private static let toDo = "api://todolist/ToDoList.Read api://todolist/ToDoList.ReadWrite"
    private static let demo = "https://fabrikvine.onmicrosoft.com/helloapi/demo.read"

    @Test func `N36: one sign-in gives a token for each API, with its own audience and scopes`() async throws {
        try await Site.open { site in
            let refreshToken = try await site.signInWithPassword().text("refresh_token")
            let first = try await site.refresh(refreshToken, client: "pwd-app", scope: Self.toDo + " openid")
            #expect(first["scope"].text == Self.toDo)
            let second = try await site.refresh(first.text("refresh_token"), client: "pwd-app", scope: Self.demo)
            #expect(second["scope"].text == Self.demo)
            #expect(second["id_token"].isNull)
            let audiences = try [first, second].map { try $0.claims(of: "access_token")["aud"].text }
            #expect(audiences == ["8c1b6a34-0d0e-4f43-9d3a-7a5d2f7c1a01", "2b7e9f10-5a4c-4e8b-8f21-90c3de6b1b02"])
            for (path, answer) in [("api1", first), ("api2", second)] {
                let headers = ["authorization": "Bearer \(try answer.text("access_token"))"]
                #expect(try await site.get("\(site.provider.baseURL)/\(path)/tasks", headers: headers).status == 200)
            }
        }
    }

    @Test func `N37: a token in hand serves the API without another token request`() async throws {
        try await Site.open { site in
            let answer = try await site.signInWithPassword(more: ["scope": Self.toDo + " offline_access"])
            let headers = ["authorization": "Bearer \(try answer.text("access_token"))"]
            for _ in 1...3 {
                #expect(try await site.get("\(site.provider.baseURL)/api1/x", headers: headers).status == 200)
            }
            #expect(site.requests(to: "token") == 1)
            #expect(site.requests(to: "api") == 3)
        }
    }

    @Test func `N38: an expired access token is refused and a refresh replaces it`() async throws {
        try await Site.open { site in
            let old = try await site.signInWithPassword(more: ["scope": Self.toDo + " offline_access"])
            site.provider.clock.advance(by: 3600)
            let api = "\(site.provider.baseURL)/api1/x"
            let headers = ["authorization": "Bearer \(try old.text("access_token"))"]
            #expect(try await site.get(api, headers: headers).status == 401)
            let new = try await site.refresh(old.text("refresh_token"), client: "pwd-app", scope: Self.toDo)
            let renewed = ["authorization": "Bearer \(try new.text("access_token"))"]
            #expect(try await site.get(api, headers: renewed).status == 200)
            #expect(try new.text("refresh_token") != old.text("refresh_token"))
        }
    }

    @Test func `N39: a refresh before expiry returns new tokens and a new ID token`() async throws {
        try await Site.open { site in
            let old = try await site.signInWithPassword()
            site.provider.clock.advance(by: 60)
            let new = try await site.refresh(old.text("refresh_token"), client: "pwd-app")
            #expect(try new.claims(of: "id_token")["iat"] == 1_790_000_060)
            #expect(try new.claims(of: "id_token")["auth_time"] == 1_790_000_000)
            #expect(try new.text("access_token") != old.text("access_token"))
        }
    }

    @Test func `N40: scopes of OpenID Connect alone belong to the userinfo endpoint`() async throws {
        try await Site.open { site in
            let answer = try await site.signInWithPassword(more: ["scope": "openid"])
            #expect(answer["refresh_token"].isNull)
            #expect(answer["scope"] == "openid")
            #expect(try answer.claims(of: "access_token")["aud"].text?.hasSuffix("/openid/v2.0/userinfo") == true)
        }
    }

    @Test func `N41: scopes of two APIs are refused and the refresh token stays good`() async throws {
        try await Site.open { site in
            let refreshToken = try await site.signInWithPassword().text("refresh_token")
            for scope in ["\(Self.toDo) \(Self.demo)", "api://todolist/Unknown"] {
                #expect(try await site.refresh(refreshToken, client: "pwd-app", scope: scope).error == "invalid_scope")
            }
            #expect(try await site.refresh(refreshToken, client: "pwd-app").status == 200)
        }
    }

    @Test func `N42: a scope without consent needs an interactive sign-in`() async throws {
        try await Site.open { site in
            let refreshToken = try await site.signInWithPassword().text("refresh_token")
            let scope = "https://fabrikvine.onmicrosoft.com/helloapi/demo.write"
            let refused = try await site.refresh(refreshToken, client: "pwd-app", scope: scope)
            #expect(refused.error == "invalid_grant")
            #expect(refused.number == 65001)
            #expect(try refused.text("error_description").contains("interactively"))
        }
    }

    @Test func `N43: a token used twice ends the whole family`() async throws {
        try await Site.open(grace: 0) { site in
            let first = try await site.signInWithPassword().text("refresh_token")
            let child = try await site.refresh(first, client: "pwd-app").text("refresh_token")
            let reused = try await site.refresh(first, client: "pwd-app")
            #expect(reused.error == "invalid_grant")
            #expect(reused.suberror == "bad_token")
            #expect(try await site.refresh(child, client: "pwd-app").suberror == "bad_token")
        }
    }

    @Test func `N43: 64 parallel refreshes have one winner and end the family`() async throws {
        try await Site.open(grace: 0) { site in
            let token = try await site.signInWithPassword().text("refresh_token")
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 1...64 { group.addTask { try await site.refresh(token, client: "pwd-app") } }
                return try await group.reduce(into: [Answer]()) { $0.append($1) }
            }
            let winners = answers.filter { $0.status == 200 }
            #expect(winners.count == 1)
            #expect(answers.filter { $0.suberror == "bad_token" }.count == 63)
            let child = try winners.first?.text("refresh_token") ?? ""
            #expect(try await site.refresh(child, client: "pwd-app").suberror == "bad_token")
        }
    }

    @Test func `N44: two renewals within the grace get the same child and the family lives`() async throws {
        try await Site.open { site in
            let token = try await site.signInWithPassword().text("refresh_token")
            let answers = try await withThrowingTaskGroup(of: Answer.self) { group in
                for _ in 1...8 { group.addTask { try await site.refresh(token, client: "pwd-app") } }
                return try await group.reduce(into: [Answer]()) { $0.append($1) }
            }
            let children = try Set(answers.map { try $0.text("refresh_token") })
            #expect(children.count == 1)
            let next = try await site.refresh(children.first ?? "", client: "pwd-app")
            #expect(next.status == 200)
            // The grace is for the newest used token only, and for ten seconds.
            site.provider.clock.advance(by: 10)
            #expect(try await site.refresh(children.first ?? "", client: "pwd-app").suberror == "bad_token")
        }
    }

    @Test func `N45: the first answer has all that an app shows of the account offline`() async throws {
        try await Site.open { site in
            let claims = try await site.signInWithPassword().claims(of: "id_token")
            for name in ["oid", "tid", "sub", "name", "preferred_username", "email", "iss"] {
                #expect(claims[name].text?.isEmpty == false, "\(name)")
            }
        }
    }

    @Test func `N46: a revoked refresh token is dead, and revoking it again is harmless`() async throws {
        try await Site.open { site in
            let answer = try await site.signInWithPassword()
            let form = try ["client_id": "pwd-app", "token": answer.text("refresh_token")]
            for _ in 1...2 { #expect(try await site.post("\(site.tenant)/oauth2/v2.0/revoke", form).status == 200) }
            #expect(try await site.refresh(answer.text("refresh_token"), client: "pwd-app").suberror == "bad_token")
        }
    }

    @Test func `N47: two people on one client have separate families`() async throws {
        try await Site.open { site in
            let bo = try await site.signInWithCode().text("refresh_token")
            let ana = try await site.signInWithCode(Site.ana).text("refresh_token")
            let form = ["client_id": "otp-app", "token": bo]
            #expect(try await site.post("\(site.tenant)/oauth2/v2.0/revoke", form).status == 200)
            #expect(try await site.refresh(bo, client: "otp-app").status == 400)
            #expect(try await site.refresh(ana, client: "otp-app").status == 200)
        }
    }

    @Test func `a refresh token belongs to its client and is not spent by another`() async throws {
        try await Site.open { site in
            let token = try await site.signInWithPassword().text("refresh_token")
            #expect(try await site.refresh(token, client: "otp-app").error == "invalid_grant")
            #expect(try await site.refresh(token, client: "pwd-app").status == 200)
        }
    }

    @Test func `a refresh token lives fourteen days since its last use and ninety in all`() async throws {
        try await Site.open { site in
            var token = try await site.signInWithPassword().text("refresh_token")
            for _ in 1...6 {
                site.provider.clock.advance(by: 14 * 86_400 - 1)
                token = try await site.refresh(token, client: "pwd-app").text("refresh_token")
            }
            site.provider.clock.advance(by: 7 * 86_400)
            #expect(try await site.refresh(token, client: "pwd-app").error == "invalid_grant")
        }
        try await Site.open { site in
            let token = try await site.signInWithPassword().text("refresh_token")
            site.provider.clock.advance(by: 14 * 86_400)
            #expect(try await site.refresh(token, client: "pwd-app").error == "invalid_grant")
        }
    }

    @Test(arguments: ["rt_", "rt_a.0.b", "x", "rt_a.-1.b", "rt_a.99999999999999999999.b"])
    func `a made-up refresh token is refused`(token: String) async throws {
        try await Site.open { (site: Site) async throws in
            #expect(try await site.refresh(token, client: "pwd-app").error == "invalid_grant")
        }
    }
}
