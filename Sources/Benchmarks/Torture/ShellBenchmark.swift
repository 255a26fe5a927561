import OAuth
import Sealing
import TestSupport
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Random tokens, most of them such that none should be, go through `eval "$(tokenstore token --format env)"`: a shell
/// gets the very bytes, or nothing.
enum ShellBenchmark: Benchmark {
    static let name = "R12"

    private static let shells = ["dash", "bash", "zsh"]

    /// How many tokens share a store, as a lookup looks at all of an account's.
    private static let storeSize = 250

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let count = bench.count(name, full: 10_000, quick: storeSize)
        var random = SeededGenerator(seed: 12)
        var wrong = [Int](repeating: 0, count: shells.count)
        var (executed, refused) = (0, 0)
        for start in stride(from: 0, to: count, by: storeSize) {
            let tokens = (0..<min(storeSize, count - start)).map { token($0, &random) }
            refused += tokens.count { !Secret($0).isShowable }
            let path = try bench.place("shell")
            try fill(path, with: tokens)
            for (index, shell) in shells.enumerated() {
                let shown = try shown(tokens.count, in: shell, path, bench)
                wrong[index] += abs(shown.count - tokens.count)
                wrong[index] += zip(tokens, shown).count { !isRight($1, for: $0) }
            }
            executed += FileManager.default.fileExists(atPath: path.directory + "/executed") ? 1 : 0
        }
        for (shell, wrong) in zip(shells, wrong) {
            let work = "random tokens through eval in \(shell), \(refused) of them none: not the bytes, not refused"
            add(ReportRow(name, work, failures: wrong, of: count))
        }
        add(ReportRow(name, "the same: 250 tokens at a time of which one ran", failures: executed, of: count))
    }

    /// Every other token is one that RFC 6749 allows.
    private static func token(_ index: Int, _ random: inout SeededGenerator) -> String {
        if index.isMultiple(of: 2) {
            let visible = (0..<40).map { _ in UInt8.random(in: 0x20...0x7E, using: &random) }
            return String(decoding: visible, as: UTF8.self) + "';>executed;'"
        }
        let text = random.confusingText(count: 30) + "'\u{301};>executed;'"
        return index % 20 == 1 ? text + "\0" : text
    }

    /// Stores the tokens as a version would that takes any.
    private static func fill(_ path: StorePath, with tokens: [String]) throws {
        let store = try TokenStore.open(at: path)
        for (index, token) in tokens.enumerated() {
            var response = SampleAccount(1).response
            response.accessToken = Secret(token)
            response.refreshToken = nil
            response.scope = Scope(SampleAccount.scope(index))
            try store.save(response, for: SampleAccount.request())
        }
    }

    /// What a shell has in the variable after each `eval`.
    private static func shown(_ count: Int, in shell: String, _ path: StorePath, _ bench: Bench) throws -> [[UInt8]] {
        guard let program = ChildProcess.path(of: shell) else { throw BenchFailure("\(shell) is not installed") }
        let script = """
            cd \(path.directory.shellQuoted) || exit 1
            i=0
            while [ "$i" -lt \(count) ]; do
                ACCESS_TOKEN=
                eval "$(\(bench.tool.shellQuoted) token --scope "https://api$i.contoso.example/access" --format env \
            --store \(path.database.shellQuoted) 2>/dev/null)"
                printf '%s\\0' "$ACCESS_TOKEN"
                i=$((i + 1))
            done
            """
        let output = try ChildProcess(program, ["-c", script]).output()
        return output.utf8.split(separator: 0, omittingEmptySubsequences: false).dropLast().map(Array.init)
    }

    private static func isRight(_ shown: [UInt8], for token: String) -> Bool {
        Secret(token).isShowable ? shown.elementsEqual(token.utf8) : shown.isEmpty
    }
}
