import Database
import OAuth
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tokens are planted, and after every operation looked for in every file and every line of output.
enum PlantedSecretsBenchmark: Benchmark {
    static let name = "R6"

    static func measure(_ bench: Bench, _ add: (ReportRow) -> Void) throws {
        let path = try bench.place("secrets")
        var search = SecretSearch()
        for number in 0..<60 {
            for generation in [0, 9] as [UInt64] {
                var account = SampleAccount(number)
                account.generation = generation
                for token in [account.accessToken(0), account.accessToken(1), account.refreshToken, account.idToken] {
                    search.plant(token)
                }
            }
        }
        var leaks = try libraryLeaks(path, &search)
        leaks += try errorLeaks(&search)
        leaks += try toolLeaks(bench, path, &search)
        for leak in leaks { Violations.explain(leak) }
        add(
            ReportRow(
                name,
                "planted tokens found in files, output and errors",
                failures: leaks.count,
                of: search.searches
            )
        )
        let (remains, searches) = try remains(bench)
        add(ReportRow(name, "sealed bytes of forgotten tokens found", failures: remains, of: searches))
    }

    /// Makes every change with the library.
    private static func libraryLeaks(_ path: StorePath, _ search: inout SecretSearch) throws -> [String] {
        var leaks: [String] = []
        for change in Change.allCases {
            if change != .create { try TokenStore.open(at: path).fill(0..<5, accessTokens: 2) }
            try change.make(at: path, in: nil)
            leaks += try search.leaks(in: path.directory).map { "\($0) after \(change)" }
        }
        return leaks
    }

    /// Prints a response that could not be stored in every way that a program might log it.
    private static func errorLeaks(_ search: inout SecretSearch) throws -> [String] {
        let response = SampleAccount(1).response
        let error = TokenStoreError.notStored(response, reason: "a test")
        var dumped = ""
        dump(error, to: &dumped)
        dump(response, to: &dumped)
        let texts = ["\(error)", String(reflecting: error), "\(response)", String(reflecting: response), dumped]
        return texts.filter { search.isLeaked(by: $0) }.map { _ in "the text of an error" }
    }

    /// Runs every command that must not print a token, with everything it has to say.
    private static func toolLeaks(_ bench: Bench, _ path: StorePath, _ search: inout SecretSearch) throws -> [String] {
        let outputs = try bench.place("outputs").directory
        let document = try bench.place("document").directory + "/cache.json"
        try Data(MSALDocument(accounts: 0..<5, accessTokens: 2).bytes).write(to: URL(fileURLWithPath: document))
        var leaks: [String] = []
        let commands = [
            ["import", document], ["list"], ["list", "--tokens", "--json"], ["claims", SampleAccount(1).username],
            ["explain", "--account", SampleAccount(1).username, "--scope", SampleAccount.scope(0), "--json"],
            ["status"],
            ["check"], ["rekey"], ["import", document], ["purge", "--account", SampleAccount(2).username],
            ["purge"], ["list", "--where", "team=team-0"], ["list", "--tag", "team"], ["purge", "--all"], ["list"],
        ]
        for (index, command) in commands.enumerated() {
            let more = ["--store", path.database, "--log-level", "trace", "--no-input"]
            let yes = command.count > 1 && command[0] == "purge" ? ["--yes"] : []
            let tool = try bench.tool(command + more + yes)
            guard try tool.run(outputTo: outputs + "/\(index)").isSuccess else {
                throw BenchFailure("tokenstore \(command.joined(separator: " ")) failed")
            }
            leaks += try (search.leaks(in: path.directory) + search.leaks(in: outputs)).map { "\($0) after \(command)" }
        }
        return leaks
    }

    /// Searches for the sealed bytes of tokens that were forgotten: they are not secret, but the key may become known.
    private static func remains(_ bench: Bench) throws -> (found: Int, searches: Int) {
        var (found, searches) = (0, 0)
        for change in [Change.removeAccount, .purge, .purgeEverything, .rekey] {
            let path = try bench.place("remains")
            let store = try TokenStore.open(at: path)
            try store.fill(0..<5, accessTokens: 2)
            let before = try sealed(in: path)
            try change.make(at: path, in: store)
            let after = Set(try sealed(in: path))
            var search = SecretSearch()
            for value in before where !after.contains(value) { search.plant(Array(value[17..<49])) }
            found += try search.leaks(in: path.directory).count
            searches += search.searches
        }
        return (found, searches)
    }

    private static func sealed(in path: StorePath) throws -> [[UInt8]] {
        let connection = try Connection(path: path.database, mode: .readWrite, busyTimeout: .seconds(1))
        return try connection.all(
            """
            SELECT secret FROM access_token UNION ALL SELECT secret FROM refresh_token
            UNION ALL SELECT secret FROM id_token
            """
        ) { $0.blob(0) }
    }
}

/// Looks for planted bytes, as they are and in the encodings that a log or a database might give them.
struct SecretSearch {
    /// By their first eight bytes.
    private var patterns: [UInt64: [[UInt8]]] = [:]

    /// How many places have been searched.
    private(set) var searches = 0

    /// Plants a token: its parts must be nowhere, since half a token in a log is half a token too many.
    mutating func plant(_ secret: String) {
        let bytes = Array(secret.utf8)
        for start in [bytes.count / 4, bytes.count / 2, bytes.count - 40] {
            let part = Array(bytes[start..<start + 32])
            plant(part)
            plant(Array(part.map { String($0, radix: 16) }.joined().utf8))
            for shift in 0..<3 {
                // Without the ends, which depend on the bytes beside the secret.
                let encoded = Data(part.dropFirst(shift)).base64EncodedString()
                plant(Array(encoded.utf8.dropLast(6)))
            }
        }
    }

    mutating func plant(_ bytes: [UInt8]) {
        patterns[bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }, default: []].append(bytes)
    }

    /// The files under `directory` that hold something planted.
    mutating func leaks(in directory: String) throws -> [String] {
        var leaks: [String] = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
            let path = directory + "/" + name
            guard let bytes = FileManager.default.contents(atPath: path) else { continue }
            searches += 1
            if holdsSecret(bytes) { leaks.append(name) }
        }
        return leaks
    }

    mutating func isLeaked(by text: String) -> Bool {
        searches += 1
        return holdsSecret(Data(text.utf8))
    }

    private func holdsSecret(_ bytes: Data) -> Bool {
        bytes.withUnsafeBytes { hay in
            guard hay.count >= 8 else { return false }
            for offset in 0...hay.count - 8 {
                guard let found = patterns[hay.loadUnaligned(fromByteOffset: offset, as: UInt64.self)] else { continue }
                if found.contains(where: { hay[offset...].starts(with: $0) }) { return true }
            }
            return false
        }
    }
}
