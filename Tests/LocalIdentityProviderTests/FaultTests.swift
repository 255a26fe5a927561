import AsyncHTTPClient
import Foundation
import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

struct FaultTests {
    @Test func `N57: a fault can send the end of a sign-up to the browser`() async throws {
        try await Site.open { site in
            site.provider.faults.add(.answer(body: #"{"challenge_type":"redirect"}"#, at: "signup/continue"))
            let answer = try await site.signUp("continue", "otp-app", ["continuation_token": "x"])
            #expect(answer.status == 200)
            #expect(answer["challenge_type"] == "redirect")
        }
    }

    @Test func `N58: a 503 is followed by success when the fault is used up`() async throws {
        try await Site.open { (site: Site) async throws in
            site.provider.faults.add(.status(503, at: "initiate"))
            #expect(try await site.initiate("otp-app", Site.bo).status == 503)
            #expect(try await site.initiate("otp-app", Site.bo).status == 200)
        }
    }

    @Test func `N58: a renewal that took effect behind a 503 can be repeated within the grace`() async throws {
        try await Site.open { site in
            let token = try await site.signInWithPassword().text("refresh_token")
            site.provider.faults.add(.status(503, at: "token", takesEffect: true))
            #expect(try await site.refresh(token, client: "pwd-app").status == 503)
            let repeated = try await site.refresh(token, client: "pwd-app")
            #expect(repeated.status == 200)
            #expect(try await site.refresh(repeated.text("refresh_token"), client: "pwd-app").status == 200)
        }
    }

    @Test func `N59: a fault can answer with an unknown error code`() async throws {
        try await Site.open { site in
            let body = #"{"error":"moon_phase","suberror":"waning","error_description":"Wait a week."}"#
            site.provider.faults.add(.answer(status: 400, body: body, at: "initiate"))
            let answer = try await site.initiate("otp-app", Site.bo)
            #expect(answer.status == 400)
            #expect(answer.text == body)
        }
    }

    @Test func `a fault can answer with HTML and with an empty 400`() async throws {
        try await Site.open { site in
            site.provider.faults.add(.html(at: "token"))
            site.provider.faults.add(.emptyBadRequest(at: "token"))
            let html = try await site.refresh("x", client: "pwd-app")
            #expect(html.status == 502)
            #expect(html.header("content-type") == "text/html")
            let empty = try await site.refresh("x", client: "pwd-app")
            #expect(empty.status == 400)
            #expect(empty.body.isEmpty)
        }
    }

    @Test func `a 429 can name the wait as seconds or as a date`() async throws {
        try await Site.open { site in
            site.provider.faults.add(.tooManyRequests(seconds: 7, at: "token"))
            let date = Date(timeIntervalSince1970: 784_111_777)
            site.provider.faults.add(.tooManyRequests(until: date, at: "token"))
            let seconds = try await site.refresh("x", client: "pwd-app")
            #expect(seconds.status == 429)
            #expect(seconds.header("retry-after") == "7")
            let dated = try await site.refresh("x", client: "pwd-app")
            #expect(dated.header("retry-after") == "Sun, 06 Nov 1994 08:49:37 GMT")
        }
    }

    @Test func `a response can be lost after the request took effect`() async throws {
        try await Site.open(grace: 0) { site in
            let token = try await site.signInWithPassword().text("refresh_token")
            site.provider.faults.add(.lostResponse(at: "token"))
            await #expect(throws: (any Error).self) { try await site.refresh(token, client: "pwd-app") }
            #expect(try await site.refresh(token, client: "pwd-app").suberror == "bad_token")
        }
    }

    @Test func `a body can end in the middle`() async throws {
        try await Site.open { (site: Site) async throws in
            site.provider.faults.add(.truncatedBody(at: "metadata"))
            await #expect(throws: (any Error).self) {
                try await site.get(site.tenant + "/v2.0/.well-known/openid-configuration")
            }
            #expect(try await site.get(site.tenant + "/v2.0/.well-known/openid-configuration").status == 200)
        }
    }

    @Test func `a request can hang until its client gives up`() async throws {
        try await Site.open { (site: Site) async throws in
            site.provider.faults.add(.hang(at: "keys"))
            await #expect(throws: (any Error).self) {
                try await site.send("GET", site.tenant + "/discovery/v2.0/keys", seconds: 5)
            }
            #expect(try await site.get(site.tenant + "/discovery/v2.0/keys").status == 200)
        }
    }

    @Test func `an answer can be late`() async throws {
        try await Site.open { site in
            site.provider.faults.add(.delay(milliseconds: 150, at: "metadata"))
            let clock = ContinuousClock()
            let taken = try await clock.measure {
                _ = try await site.get(site.tenant + "/v2.0/.well-known/openid-configuration")
            }
            #expect(taken >= .milliseconds(150))
        }
    }

    @Test(arguments: Fault.IDTokenFlaw.allCases)
    func `an ID token can be wrong in one way at a time`(flaw: Fault.IDTokenFlaw) async throws {
        try await Site.open { site in
            site.provider.faults.add(.wrongIDToken(flaw))
            let answer = try await site.signInWithPassword()
            let token = try answer.text("id_token")
            let claims = try Answer.claims(in: token)
            let isGenuine = try await JWTCheck(site).verify(token)
            #expect(isGenuine == (flaw != .signature))
            #expect((claims["aud"] == "pwd-app") == (flaw != .audience))
            #expect((claims["exp"].seconds ?? 0 > 1_790_000_000) == (flaw != .expiry))
            #expect((claims["iss"].text?.hasPrefix(site.provider.baseURL) == true) == (flaw != .issuer))
            #expect((!claims["nonce"].isNull) == (flaw == .nonce))
        }
    }
}
