import Database
import Foundation
import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

@Suite(.onWaitingThreads)
struct LogoutCommandTests {
    @Test func `a dry run names the account and its clients, and changes nothing anywhere`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let before = try scene.scratch.contents("tokenstore.db")
            let text = try await scene.run("logout", "ana.rojas@example.org", "--dry-run")
            let what = "ana.rojas@example.org of pwd-app, here and at the issuer"
            #expect(text.status == 0, "\(text.error)")
            #expect(text.output == "would sign out \(what)\n", "\(text.error)")
            let json = try await scene.run("logout", "ana.rojas@example.org", "--dry-run", "--json").json
            #expect(json["dryRun"] as? Bool == true)
            #expect(json["clientIds"] as? [String] == ["pwd-app"])
            #expect(try scene.scratch.contents("tokenstore.db") == before)
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test(arguments: [("y\n", 0, 1), ("n\n", 9, 2)])
    func `on a terminal purge asks once and names the account`(answer: String, status: Int32, lines: Int) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let outcome = try scratch.runOnTerminal(
            "logout",
            "mara@example.net",
            "--local-only",
            answers: [("Sign out mara@example.net (b2c_1_signin)", answer)]
        )
        #expect(outcome.status == status, "\(outcome.output)")
        #expect(try scratch.run("list").lines.count == lines)
    }

    @Test(arguments: [(4, 1), (30, 1), (200, 0)])
    func `a script names an account in full, or says --yes`(length: Int, status: Int32) throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let id = CachedUser.mara.homeAccountID
        let outcome = try scratch.run("logout", String(id.prefix(length)), "--local-only")
        #expect(outcome.status == status, "\(outcome.error)")
        #expect(status == 0 || outcome.error.contains("add --yes to go ahead"), "\(outcome.error)")
        #expect(try scratch.run("list").lines.count == (status == 0 ? 1 : 2))
        for name in ["MARA@example.net", CachedUser.mara.uid] {
            let named = try ScratchDirectory()
            try named.fill(.mara)
            #expect(try named.run("logout", name, "--local-only").status == 0, "\(name)")
        }
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `a signal while the issuer ends the session leaves no account behind`(signal: Int32) async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.hang(at: "revoke", takesEffect: true))
            let logout = try StartedCommand(
                ["logout", "--yes", "ana.rojas@example.org", "--timeout", "2"],
                environment: ["TOKENSTORE_PATH": scene.scratch.store],
                in: scene.scratch
            )
            try await scene.waitForRequest(at: "revoke")
            logout.send(signal)
            #expect(try await logout.end() == 128 + signal)
            #expect(try await scene.run("list", "--json").json["total"] as? Int == 0)
        }
    }

    @Test func `a sign-out ends the session at the issuer and deletes the account`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let outcome = try await scene.run("logout", "--yes", "ana.rojas@example.org")
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.output.contains("the issuer ended the session"), "\(outcome.error)")
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            #expect(try await scene.run("list", "--json").json["accounts"] as? [String] == [])
            #expect(try await scene.run("logout", "--yes", "ana.rojas@example.org").status == 3)
        }
    }

    @Test func `a local sign-out sends no request`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let outcome = try await scene.run("logout", "--yes", "ana.rojas@example.org", "--local-only", "--json")
            let revocations = try outcome.json["revocations"] as? [[String: Any]]
            #expect(revocations?.first?["outcome"] as? String == "localOnly")
            #expect(scene.provider.audit.counts.isEmpty)
        }
    }

    @Test(arguments: [[], ["--quiet"]])
    func `a failed revocation is reported, and the account is removed`(options: [String]) async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            scene.provider.faults.add(.status(503, at: "revoke"))
            let outcome = try await scene.run(["logout", "--yes", "ana.rojas@example.org"] + options)
            #expect(outcome.status == 0)
            #expect(outcome.error.contains("was not ended at the issuer"))
            #expect(try await scene.run("list", "--json").json["accounts"] as? [String] == [])
        }
    }

    @Test func `S28: a sign-out without an account is an error, a failed one removes nothing`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let other = try scene.scratch.holdForWriting()
            let before = try await scene.run("list", "--json").json["accounts"] as? [[String: Any]]
            let held = try await scene.run(
                "logout",
                "--yes",
                "ana.rojas@example.org",
                "--local-only",
                "--timeout",
                "0.1"
            )
            #expect(held.status == 5)
            #expect(held.error.contains("; "))
            let after = try await scene.run("list", "--json").json["accounts"] as? [[String: Any]]
            #expect(before?.count == 1)
            #expect(after?.count == 1)
            #expect(after?.first?["hasRefreshToken"] as? Bool == true)
            try other.execute("ROLLBACK")
            #expect(try await scene.run("logout", "--yes", "ana.rojas@example.org", "--local-only").status == 0)
            let again = try await scene.run("logout", "--yes", "ana.rojas@example.org")
            #expect(again.status == 3)
            #expect(again.error.contains("no account fits"))
            #expect(try await scene.run("status").output.contains("holds     0 accounts"))
        }
    }

    @Test func `an account that cannot be deleted is said to have no session at the issuer any more`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            // The store has what the issuer publishes by then.
            #expect(try await scene.tokens(1, "--force-refresh")[0].status == 0)
            let other = try scene.scratch.holdForWriting()
            let outcome = try await scene.run("logout", "ana.rojas@example.org", "--timeout", "10")
            #expect(outcome.status == 5)
            #expect(scene.provider.audit.count(of: "revoke") == 1)
            let words = "the issuer ended the session, but the account could not be deleted here: another process holds"
            #expect(outcome.error.contains(words), "\(outcome.error)")
            try other.execute("ROLLBACK")
            #expect(try await scene.run("logout", "ana.rojas@example.org").status == 0)
        }
    }

    /// A local sign-out waits for nothing; the other one for the refresh, whose tokens it revokes.
    @Test(arguments: [[], ["--local-only"]])
    func `a sign-out during a refresh wins, and the new tokens are not stored`(arguments: [String]) async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            let isLocal = !arguments.isEmpty
            scene.provider.faults.add(isLocal ? .hold(at: "token") : .delay(milliseconds: 1_000, at: "token"))
            let refresh = try scene.start()
            try await scene.waitForIntent()
            #expect(try await scene.run(["logout", "--yes", "ana.rojas@example.org"] + arguments).status == 0)
            if isLocal { scene.provider.faults.removeAll() }
            #expect(try await refresh.end() == (isLocal ? 4 : 0))
            #expect(try scene.rows == .none)
            // What the refresh brought nevertheless has been ended at the issuer as well.
            #expect(scene.provider.audit.count(of: "revoke") == 1)
        }
    }

    @Test func `concurrent sign-outs of many processes all succeed`() async throws {
        let scratch = try ScratchDirectory()
        let rows = (0..<24).map { JSONValue.account(["home_account_id": .string("u\($0).t1")]) }
        let tokens = (0..<24).map { JSONValue.refreshToken("r\($0)", ["home_account_id": .string("u\($0).t1")]) }
        let store = try await TokenStore.open(at: StorePath(scratch.store))
        try store.take(JSONValue.cache(refreshTokens: tokens, accounts: rows).serialized)
        let statuses = try await withThrowingTaskGroup(of: Int32.self) { group in
            for index in 0..<24 {
                let command = Command(
                    arguments: ["logout", "--local-only", "u\(index).t1"],
                    environment: ["TOKENSTORE_PATH": scratch.store]
                )
                group.addTask { try await command.runAside(in: scratch).status }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses.allSatisfy { $0 == 0 }, "\(statuses)")
        await #expect(try store.accounts().isEmpty)
    }

    @Test func `a reader does not block a sign-out of two clients, and is reported`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            try scene.addClient("otp-app")
            let reader = try Connection(path: scene.scratch.store, mode: .readWrite, busyTimeout: .zero)
            try reader.execute("BEGIN; SELECT count(*) FROM account")
            let outcome = try await scene.run(
                "logout",
                "--yes",
                "ana.rojas@example.org",
                "--local-only",
                "--json",
                "--quiet",
                "--timeout",
                "0.2"
            )
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.error.contains("hold the old rows"), "\(outcome.error)")
            #expect(try outcome.json["oldBytesRemain"] as? Bool == true)
            #expect((try outcome.json["revocations"] as? [[String: Any]])?.count == 2)
            try reader.execute("COMMIT")
            #expect(try scene.rows == .none)
        }
    }

    @Test func `of several sessions those are named that the issuer ended`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            // One that the issuer does not know.
            try scene.addClient("other-app")
            let outcome = try await scene.run("logout", "--yes", "ana.rojas@example.org")
            #expect(outcome.status == 0, "\(outcome.error)")
            #expect(outcome.error.contains("the session of client other-app was not ended at the issuer"))
            let line = "signed out ana.rojas@example.org; the issuer ended the session of pwd-app only\n"
            #expect(outcome.output == line)
        }
    }

    @Test func `without a revocation endpoint the sign-out succeeds and says why`() async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let issuer = scene.provider.baseURL + "/5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10"
            let metadata = #"{"issuer":"\#(issuer)","token_endpoint":"\#(issuer)/token"}"#
            scene.provider.faults.add(.answer(body: metadata, at: "metadata", times: nil))
            let outcome = try await scene.run("logout", "--yes", "ana.rojas@example.org")
            #expect(outcome.status == 0)
            #expect(outcome.error.contains("revokes no tokens"))
            #expect(try scene.rows == .none)
        }
    }
}
