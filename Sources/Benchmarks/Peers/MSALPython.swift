import CPeers
import LocalIdentityProvider
import OAuth
import TokenStorage
import TokenStoreCLI

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// MSAL for Python with its extensions, whose cache several processes share in a file.
struct MSALPython: Peer {
    static let name = "MSAL Python"
    let version: String
    private let python: String
    private let script: String

    /// Nil where `python` is missing or has no such packages.
    init?(python name: String, in scratch: RunDirectory) throws {
        guard let found = ChildProcess.path(of: name) else { return nil }
        script = scratch.path + "/msal_python.py"
        try Data(String(cString: peer_msal_python()).utf8).write(to: URL(fileURLWithPath: script))
        // An interpreter is often reached by way of a program that chooses one, which takes its time.
        guard let said = try? ChildProcess(found, [script, "version"]).output() else { return nil }
        let lines = said.split(separator: "\n").map(String.init)
        guard lines.count == 2 else { return nil }
        (python, version) = (lines[0], lines[1])
    }

    func child(_ work: String, _ arguments: [String]) -> ChildProcess {
        ChildProcess(python, [script, work] + arguments)
    }

    /// The seconds that a piece of work says it took, once for each round.
    func seconds(_ work: String, _ arguments: String...) throws -> [Double] {
        // The report shows why it failed.
        try child(work, arguments).output(errors: 2).split(separator: "\n").compactMap { Double($0) }
    }

    /// A cache file of sample accounts.
    static func cache(_ bench: Bench, accounts: Int, accessTokens: Int) throws -> String {
        let file = try bench.place("msal").directory + "/cache.json"
        try Data(MSALDocument(accounts: 0..<accounts, accessTokens: accessTokens).bytes)
            .write(to: URL(fileURLWithPath: file))
        return file
    }

    /// Does the same work in caches of two sizes.
    static func figures(
        _ bench: Bench,
        _ work: String,
        unit: ReportRow.Unit,
        but difference: String = ""
    ) throws -> [PeerFigure] {
        let sizes = bench.isQuick ? [(1_000, 5)] : [(1_000, 5), (10_000, 1)]
        return try sizes.map { accounts, tokens in
            let remark = "\(accounts) accounts with \(tokens) token\(tokens == 1 ? "" : "s")\(difference)"
            return PeerFigure(
                bench.msal,
                remark,
                unit: unit,
                try bench.msal?.seconds(
                    work,
                    cache(bench, accounts: accounts, accessTokens: tokens),
                    "\(bench.rounds)"
                )
            )
        }
    }
}

extension MSALPython {
    /// Each round has a new session: the previous one may be over.
    ///
    /// The interpreters have started and loaded everything before the clock does.
    func race(_ bench: Bench, rounds: Int, processes: Int) throws -> RaceOutcome {
        try race(bench, rounds: rounds, processes: processes, ("begin", "race")) {
            try bench.place("msal-race").directory + "/cache.json"
        }
    }

    /// The same in the cache that `place` names for each round, by the works that store the session and ask.
    private func race(
        _ bench: Bench,
        rounds: Int,
        processes: Int,
        _ works: (begin: String, race: String),
        in place: () throws -> String
    ) throws -> RaceOutcome {
        let issuer = try AsynchronousWork.run { try await BenchIssuer() }
        defer { issuer.stop() }
        let authority = "https" + issuer.issuer.dropFirst("http".count)
        let session = [authority, BenchIssuer.client, BenchIssuer.scope.text]
        let answer = try bench.place("msal-answer").directory + "/answer.json"
        var outcome = RaceOutcome()
        for _ in 0..<rounds {
            let cache = try place()
            try Self.answer(of: issuer).write(to: URL(fileURLWithPath: answer))
            _ = try child(works.begin, [cache] + session + [answer]).output(errors: 2)
            let before = issuer.requests()
            issuer.provider.faults.add(
                .delay(milliseconds: RaceOutcome.issuerMilliseconds, at: "token", times: nil)
            )
            let crowd = Array(repeating: child(works.race, [cache] + session), count: processes)
            let ended = try Gate.runUntilDone(crowd)
            issuer.provider.faults.removeAll()
            outcome.add(ended, requests: issuer.requests() - before)
        }
        return outcome
    }

    private static func answer(of issuer: BenchIssuer) throws -> Data {
        let response = try AsynchronousWork.run { try await issuer.response() }
        return try JSONEncoder().encode([
            "access_token": response.accessToken?.reveal(), "refresh_token": response.refreshToken?.reveal(),
            "id_token": response.idToken?.reveal(), "client_info": response.clientInfo,
        ])
    }
}

extension MSALPython {
    /// Kills a writer of a small cache at a random moment, each time of a new one.
    ///
    /// - Returns: how many caches could not be read, or had lost an account, afterwards.
    func damagedCaches(_ bench: Bench, kills: Int) throws -> Int {
        let accounts = 10
        return try (0..<kills).count { _ in
            let cache = try Self.cache(bench, accounts: accounts, accessTokens: 1)
            let pipe = try Pipe()
            let writer = try child("write", [cache]).start(output: pipe.writing)
            pipe.closeWriting()
            _ = pipe.next(1)
            usleep(UInt32.random(in: 0..<25_000))
            writer.kill()
            _ = try writer.wait()
            return try self.accounts(in: cache) < accounts
        }
    }

    /// Lets processes sign in two accounts each at once.
    ///
    /// - Returns: how many sign-ins are not stored, and how many processes failed.
    func crowd(_ bench: Bench, processes: Int) throws -> (missing: Int, failed: Int) {
        let sample = try Self.cache(bench, accounts: 1, accessTokens: 1)
        let cache = try bench.place("msal-crowd").directory + "/cache.json"
        let crowd = Array(repeating: child("crowd", [cache, sample]), count: processes)
        let failed = try Gate.runWhenReady(crowd).failed
        return (2 * processes - (try accounts(in: cache)), failed)
    }

    /// Nil if the file is not a cache.
    private func accounts(in cache: String) throws -> Int {
        let text = try Data(contentsOf: URL(fileURLWithPath: cache))
        guard let document = try? JSONValue(parsing: String(decoding: text, as: UTF8.self)) else { return 0 }
        return document.object?["Account"]?.object?.members.count ?? 0
    }
}

// MARK: - Caches on a server

extension MSALPython {
    /// How such a figure is told from one of files; nil where Python cannot reach a server.
    private func serverRemark() -> String? {
        guard let said = try? child("server_version", [""]).output() else { return nil }
        return "a cache a person in a table, psycopg2 \(said.filter { !$0.isNewline })"
    }

    /// Looks tokens up in caches of as many people.
    static func serverLookup(_ bench: Bench, _ fleet: FleetServer, accounts: Int) throws -> [PeerFigure] {
        guard let msal = bench.msal, let remark = msal.serverRemark() else {
            return [PeerFigure(MSALPython?.none, "", unit: .microseconds, nil)]
        }
        let file = try cache(bench, accounts: accounts, accessTokens: 5)
        let seconds = try msal.seconds("server_lookup", fleet.settings(), file, "\(bench.rounds)")
        return [PeerFigure(msal, remark, unit: .microseconds, seconds)]
    }

    /// Processes that ask for one expired token in a cache on a server, each round in a new session.
    static func serverRace(_ bench: Bench, _ fleet: FleetServer, processes: Int) throws -> [PeerFigure] {
        guard let msal = bench.msal, let remark = msal.serverRemark() else {
            return [PeerFigure(MSALPython?.none, "", unit: .milliseconds, nil)]
        }
        let rounds = bench.scaled(5, quick: 1)
        let outcome = try msal.race(bench, rounds: rounds, processes: processes, ("server_begin", "server_race")) {
            fleet.settings()
        }
        let got =
            "\(remark): \(outcome.asked - outcome.failed) of \(outcome.asked) got a token, "
            + "\(outcome.surplus) requests beyond one in \(outcome.rounds) rounds"
        return [PeerFigure(msal, got, unit: .milliseconds, outcome.seconds)]
    }
}
