import Foundation
import TestTraits
import Testing

/// The record of use, as `history` shows it.
@Suite(.onWaitingThreads)
struct HistoryTests {
    private func events(_ outcome: Command.Outcome) throws -> [[String: Any]] {
        try outcome.json["events"] as? [[String: Any]] ?? []
    }

    @Test func `the newest entry comes first, with the program and the account`() async throws {
        try await IssuerScene.open(lifetime: 0) { (scene: IssuerScene) async throws in
            #expect(try await scene.tokens(1)[0].status == 0)
            let outcome = try await scene.run("history", "--json")
            #expect(outcome.status == 0, "\(outcome.error)")
            let events = try events(outcome)
            #expect(events.compactMap { $0["kind"] as? String } == ["refresh", "signIn"])
            let first = try #require(events.first)
            #expect(first["username"] as? String == "ana.rojas@example.org")
            #expect(first["program"] as? String == "tokenstore")
            #expect(first["clientId"] as? String == "pwd-app")
            #expect(first["outcome"] is String)
            #expect(first["atEpoch"] is Int)
            #expect(try outcome.json["total"] as? Int == 2)
            let text = try await scene.run("history", "ana.rojas@example.org")
            #expect(text.lines.count == 3, "\(text.output)")
            #expect(text.output.contains("ana.rojas@example.org"))
            let limited = try await scene.run("history", "--limit", "1")
            #expect(limited.lines.count == 2)
            #expect(limited.error.contains("and 1 more"), "\(limited.error)")
            #expect(try self.events(try await scene.run("history", "--since", "0s", "--limit", "0", "--json")).isEmpty)
            #expect(try self.events(try await scene.run("history", "--since", "1h", "--json")).count == 2)
        }
    }

    @Test func `an account that is not there is exit status 3, and no store an empty record`() throws {
        let scratch = try ScratchDirectory()
        let none = try scratch.run("history", "--json")
        #expect(none.status == 0)
        #expect(try events(none).isEmpty)
        #expect(try scratch.names.isEmpty)
        try scratch.fill(.mara)
        #expect(try scratch.run("history", "nobody@example.com").status == 3)
        #expect(try scratch.run("history").output.contains("import"))
    }
}
