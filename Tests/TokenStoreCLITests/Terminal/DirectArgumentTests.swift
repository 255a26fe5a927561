import ArgumentParser
import TestSupport
import TestTraits
import Testing

@testable import TokenStoreCLI

/// What is read without ArgumentParser is what ArgumentParser reads.
///
/// ArgumentParser is slow in a debug build; the threads that all tests share are not kept busy with it.
@Suite(.onWaitingThreads)
struct DirectArgumentTests {
    private static let words = [
        "--store", "--store=/tmp/a b", "--store=", "/tmp/x", "--json", "-j", "--quiet", "-q", "-qj", "--no-input",
        "--timeout", "--timeout=nan", "2.5", "--account", "-a", "--account=mara@example.net", "-amara", "", "-", "--",
        "tome", "--policy", "b2c_1", "--tenant", "--issuer=https://a.example/=b", "--client-id", "--client-id=\u{301}x",
        "--tokens", "--tokens=1", "--expired", "--limit", "3", "--columns", "--scope", "-s", "--scope=a b", "--min-ttl",
        "600", "-5", "--min-ttl=+7", "--cached", "--format", "--format=env", "json", "header", "--ca-file",
        "--force-refresh", "--where", "x=y", "--color=never", "--bogus", "--help", "-h", "-\u{301}v", "=", "--=x",
    ]

    @Test(arguments: ["list", "token"])
    func `every call that is read directly is the same to ArgumentParser`(command: String) throws {
        var random = SeededGenerator(seed: 7)
        var direct = 0
        for _ in 0..<600 {
            let count = Int.random(in: 0...5, using: &random)
            let words = (0..<count).map { _ in Self.words[Int.random(in: Self.words.indices, using: &random)] }
            guard let read = TokenStoreCommand.direct(([command] + words)[...]) else { continue }
            direct += 1
            let parsed: any ParsableCommand =
                try command == "list" ? ListCommand.parseAsRoot(words) : TokenCommand.parseAsRoot(words)
            #expect(String(describing: read) == String(describing: parsed), "\(words)")
        }
        #expect(direct > 40)
    }

    @Test(arguments: [
        ["list"], ["list", "--json"], ["list", "--tokens", "-a", "mara"], ["list", "--store=/tmp/x", "--expired"],
        ["token", "--scope", "a"], ["token", "-s", "a", "-s", "b", "--account=mara", "--format", "header"],
        ["token", "--cached", "--min-ttl", "60", "--client-id", "c", "--issuer", "https://a.example", "-j"],
    ])
    func `the usual calls are read directly`(arguments: [String]) {
        #expect(TokenStoreCommand.direct(arguments[...]) != nil)
    }

    @Test(arguments: [
        ["list", "--help"], ["list", "mara"], ["list", "--account"], ["list", "--tokens", "--json=1"], ["claims"],
        ["list", "--store", ""], ["token", "--format", "env", "--json"], ["token", "--min-ttl", "-1"], [],
    ])
    func `what is not surely right is left to ArgumentParser`(arguments: [String]) {
        #expect(TokenStoreCommand.direct(arguments[...]) == nil)
    }
}
