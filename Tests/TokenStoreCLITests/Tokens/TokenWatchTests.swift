import ArgumentParser
import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

@testable import TokenStoreCLI

/// `token --output --watch`, which stays.
@Suite(.onWaitingThreads)
struct TokenWatchTests {
    @Test func `with --watch a new token is in the file before the old one ends`() async throws {
        try await IssuerScene.open(lifetime: 6) { (scene: IssuerScene) async throws in
            let file = scene.scratch.path("token")
            let watch = try scene.start("--output", file, "--watch")
            try await eventually("a token") { FileManager.default.fileExists(atPath: file) }
            let first = try scene.scratch.contents("token")
            try await eventually("a newer token") { try scene.scratch.contents("token") != first }
            #expect(scene.tokenRequestCount >= 1)
            watch.send(SIGTERM)
            #expect(try await watch.end() == 128 + SIGTERM)
            #expect(try scene.scratch.contents("token").split(separator: UInt8(ascii: ".")).count == 3)
        }
    }

    @Test func `a watch waits an outage out, and ends with 4 where someone has to sign in`() async throws {
        try await IssuerScene.open(lifetime: 6) { (scene: IssuerScene) async throws in
            let file = scene.scratch.path("token")
            let watch = try scene.start(["--output", file, "--watch"], errors: scene.scratch.path("errors"))
            try await eventually("a token") { FileManager.default.fileExists(atPath: file) }
            scene.provider.faults.add(.status(503, at: "token"))
            // An answer may come too late for the program on a busy machine, which then asks once more.
            for _ in 0..<40 {
                scene.provider.faults.add(.answer(status: 400, body: #"{"error":"invalid_grant"}"#, at: "token"))
            }
            let first = try scene.scratch.contents("token")
            #expect(try await watch.end() == 4)
            #expect((2...4).contains(scene.tokenRequestCount))
            #expect(try scene.scratch.contents("token") == first)
        }
    }

    @Test func `a watch keeps to its account, and ends with 4 once that is signed out`() async throws {
        try await IssuerScene.open(lifetime: 6) { (scene: IssuerScene) async throws in
            let (file, errors) = (scene.scratch.path("token"), scene.scratch.path("errors"))
            // Until then no refresh brings a token that lasts.
            scene.provider.faults.add(.status(503, at: "token", times: nil))
            let watch = try scene.start(["--output", file, "--watch"], errors: errors)
            try await eventually("a token") { FileManager.default.fileExists(atPath: file) }
            let first = try scene.scratch.contents("token")
            try scene.addClient("pwd-app", uid: "0b8f7a9e-3333-4c7d-9c1e-c3c3c3c3c3c3", lifetime: 10)
            #expect(try await scene.run("logout", "ana.rojas@example.org", "--local-only").status == 0)
            scene.provider.faults.removeAll()
            #expect(try await watch.end() == 4)
            #expect(try scene.scratch.contents("token") == first)
            let sentence = try String(contentsOf: URL(filePath: errors), encoding: .utf8)
            #expect(sentence.contains("ana.rojas@example.org is no longer signed in; sign in again"), "\(sentence)")
        }
    }

    @Test func `an account that goes while its next token is asked for is no longer signed in`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let words = ["--scope", "tasks.read", "--store", scratch.store]
        let command = try TokenCommand.parse(words)
        let store = try TokenStore.open(at: StorePath(scratch.store))
        defer { store.close() }
        let owner: TokenOwner = (try #require(store.accounts().first), CachedUser.mara.client)
        _ = try store.purge(.all)
        func failure(isRepeated: Bool) throws -> CommandFailure {
            try #require(throws: CommandFailure.self) {
                try command.acquisition.acquire(
                    of: owner,
                    in: store,
                    isRepeated: isRepeated,
                    command.arguments.console
                )
            }
        }
        #expect(try failure(isRepeated: false).status == .noMatch)
        let ended = try failure(isRepeated: true)
        #expect(ended.status == .interactionRequired)
        #expect(ended.message == "mara@example.net is no longer signed in")
        #expect(!ended.mayPass(whileGood: true))
    }

    /// The next token is due after fifteen seconds.
    @Test(
        .tags(.slow),
        .ifSlowTestsAreWanted,
        .enabled(if: ReadOnlyMount.isPossible, "only root can mount a file system")
    )
    func `a watch waits for a full disk while its token lasts`() async throws {
        let disk = try ReadOnlyMount(ofKind: "tmpfs", "size=64k,mode=0700")
        defer { disk.end() }
        // One page is left, which the first token takes.
        let script = "cd \"$0\" && { dd if=/dev/zero of=rest bs=4k 2> /dev/null || true; } && truncate -s -4k rest"
        try Shell.run("/bin/sh", "-c", script, disk.path)
        try await IssuerScene.open(lifetime: 40) { (scene: IssuerScene) async throws in
            let (file, errors) = (disk.path + "/token", scene.scratch.path("errors"))
            let watch = try scene.start(["--output", file, "--watch", "--min-ttl", "25"], errors: errors)
            try await eventually("a token") { FileManager.default.fileExists(atPath: file) }
            let first = try Data(contentsOf: URL(filePath: file))
            try await eventually("a note") {
                try String(contentsOf: URL(filePath: errors), encoding: .utf8).contains("No space left on device")
            }
            #expect(try Data(contentsOf: URL(filePath: file)) == first)
            try FileManager.default.removeItem(atPath: disk.path + "/rest")
            try await eventually("a newer token") { try Data(contentsOf: URL(filePath: file)) != first }
            watch.send(SIGTERM)
            #expect(try await watch.end() == 128 + SIGTERM)
        }
    }

    @Test(
        arguments: [
            (.failure, true), (.keyUnavailable, true), (.storeDamaged, true), (.newerStore, true), (.noMatch, true),
            (.network, true), (.storeBusy, true), (.interactionRequired, false), (.usage, false), (.interrupted, false),
        ] as [(TokenStoreCLI.ExitStatus, Bool)]
    )
    func `while a token lasts all is waited out but the end of its session`(
        status: TokenStoreCLI.ExitStatus,
        mayPass: Bool
    ) {
        let failure = CommandFailure(status, "it failed", nil)
        #expect(failure.mayPass(whileGood: true) == mayPass)
        #expect(failure.mayPass(whileGood: false) == (status == .network || status == .storeBusy))
    }

    /// The next token is due after ten seconds.
    @Test(.tags(.slow), .ifSlowTestsAreWanted, arguments: [200, 302, 403, 407])
    func `a watch waits for a proxy to let it through, and says so once`(status: Int) async throws {
        try await IssuerScene.open(lifetime: 3_600) { (scene: IssuerScene) async throws in
            let (file, errors) = (scene.scratch.path("token"), scene.scratch.path("errors"))
            let watch = try scene.start(["--output", file, "--watch", "--min-ttl", "3590"], errors: errors)
            try await eventually("a token") { FileManager.default.fileExists(atPath: file) }
            scene.provider.faults.add(.answer(status: status, body: "<html>", at: "token", times: nil))
            let (first, count) = (try scene.scratch.contents("token"), scene.tokenRequestCount)
            try await eventually("a second try") { scene.tokenRequestCount > count + 1 }
            scene.provider.faults.removeAll()
            try await eventually("a newer token") { try scene.scratch.contents("token") != first }
            watch.send(SIGTERM)
            #expect(try await watch.end() == 128 + SIGTERM)
            let notes = try String(contentsOf: URL(filePath: errors), encoding: .utf8)
            #expect(notes.ranges(of: "answered \(status) without JSON").count == 1, "\(notes)")
        }
    }
}
