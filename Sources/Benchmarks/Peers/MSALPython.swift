import CPeers
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// MSAL for Python with its extensions, whose cache several processes share in a file.
struct MSALPython: Peer {
    static let name = "MSAL Python"
    let version: String
    private let python: String
    private let script: String

    /// Nil where `python` is missing or has no such packages.
    init?(python name: String, in scratch: ScratchDirectory) throws {
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
        // Its reason for failing goes to whoever reads the report.
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
