import OAuth
import Sealing
import Synchronization
import TestTraits
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite(.onWaitingThreads)
struct PassphraseSourceTests {
    @Test func `the recorded parameters and the passphrase give the key again`() throws {
        let (key, parameters) = try KeySource.passphrase.create(context("correct horse"))
        #expect(parameters.keys.sorted() == ["N", "p", "r", "salt"])
        #expect(!"\(parameters)".contains("horse"))
        #expect(try KeySource.passphrase.load(context("correct horse", parameters)).id == key.id)
    }

    @Test func `another passphrase gives another key, and its unwrapping fails with both ids`() throws {
        let (key, parameters) = try KeySource.passphrase.create(context("correct horse"))
        let wrong = try KeySource.passphrase.load(context("correct house", parameters))
        let wrapped = try key.wrap(DataKey(id: 1), storeID: [])
        #expect(throws: SealingError.otherKey(wanted: key.id, found: wrong.id)) {
            try wrong.unwrap(wrapped, id: 1, storeID: [])
        }
    }

    @Test func `a descriptor gives its passphrase once, and the source again and again`() throws {
        let pipe = try FilledPipe(holding: "correct horse\n")
        let source = try KeySource(parsing: "passphrase:fd=\(pipe.descriptor)")
        let (key, parameters) = try source.create(context(nil))
        #expect(try source.load(context(nil, parameters)).id == key.id)
        #expect(try source.load(context(nil, parameters)).id == key.id)
    }

    @Test func `a new key has the next passphrase of a descriptor`() throws {
        let pipe = try FilledPipe(holding: "old horse\nnew horse\n")
        let source = try KeySource(parsing: "passphrase:fd=\(pipe.descriptor)")
        let (_, parameters) = try KeySource.passphrase.create(context("old horse"))
        let old = try KeySource.passphrase.load(context("old horse", parameters)).id
        #expect(try source.load(context(nil, parameters)).id == old)
        let (key, changed) = try source.create(context(nil))
        #expect(try KeySource.passphrase.load(context("new horse", changed)).id == key.id)
        #expect(try source.load(context(nil, changed)).id == key.id)
    }

    @Test func `the same passphrase gives each store another key`() throws {
        let ids = try (0..<3).map { _ in try KeySource.passphrase.create(context("correct horse")).key.id }
        #expect(Set(ids).count == 3)
    }

    /// Computed with Python's `hashlib.scrypt`.
    @Test func `the known answer of scrypt is derived`() throws {
        let parameters = ["salt": "U29kaXVtQ2hsb3JpZGVTYWx0", "N": "16", "r": "1", "p": "1"]
        #expect(try KeySource.passphrase.load(context("pleaseletmein", parameters)).id == "17b842dd2073fa75")
    }

    @Test func `a new store uses 128 MiB and a quarter of a second`() {
        let context = KeySourceContext(directory: "", storeID: [], environment: [:])
        #expect(context.scryptCost == ScryptCost(rounds: 131_072, blockSize: 8, parallelism: 1))
    }

    /// The time that this thread has computed, however long others made it wait.
    private static var computed: Duration {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    @Test(arguments: [
        ["N": "1"], ["N": "0"], ["N": "-16"], ["N": "17"], ["N": "2097152"], ["N": "9223372036854775807"],
        ["N": "99999999999999999999"], ["N": "x"], ["N": ""], ["r": "0"], ["r": "17"], ["r": "-1"],
        ["r": "4611686018427387904"], ["p": "0"], ["p": "17"], ["p": "-1"], ["N": "1048576", "r": "16"],
        ["N": "1048576", "r": "8", "p": "16"], ["salt": ""], ["salt": "c2hvcnQ="], ["salt": "!"],
        ["salt": String(repeating: "QUFB", count: 30)],
    ])
    func `parameters out of bounds are refused before they cost anything`(changes: [String: String]) throws {
        var (_, parameters) = try KeySource.passphrase.create(context("correct horse"))
        parameters.merge(changes) { $1 }
        let start = Self.computed
        expect(.malformed, saying: "from a copy") {
            _ = try KeySource.passphrase.load(context("correct horse", parameters))
        }
        #expect(Self.computed - start < .milliseconds(50))
    }

    @Test(arguments: ["salt", "N", "r", "p"])
    func `a missing parameter is refused`(name: String) throws {
        var (_, parameters) = try KeySource.passphrase.create(context("correct horse"))
        parameters[name] = nil
        expect(.malformed, saying: "from a copy") {
            _ = try KeySource.passphrase.load(context("correct horse", parameters))
        }
    }

    @Test(arguments: ["correct horse", "correct horse\n", "correct horse\nand more\n"])
    func `a file descriptor gives its first line`(contents: String) throws {
        let (key, parameters) = try KeySource.passphrase.create(context("correct horse"))
        let pipe = try FilledPipe(holding: contents)
        let context = context("not this one", parameters)
        #expect(try KeySource.passphrase(descriptor: pipe.descriptor).load(context).id == key.id)
        #expect(pipe.rest() == (contents.contains("more") ? "and more\n" : ""))
    }

    @Test func `a file descriptor that cannot be open is named`() {
        expect(.unavailable, saying: "file descriptor \(Int32.max)") {
            _ = try KeySource.passphrase(descriptor: .max).create(context("correct horse"))
        }
    }

    @Test func `the environment is used before the terminal`() throws {
        var context = context("correct horse")
        context.askPassphrase = { _ in
            Issue.record("asked")
            return Secret("")
        }
        _ = try KeySource.passphrase.create(context)
    }

    @Test func `a new passphrase is asked for twice, an existing one once`() throws {
        let asked = Mutex<[Bool]>([])
        var context = context(nil)
        context.askPassphrase = { confirm in
            asked.withLock { $0.append(confirm) }
            return Secret("correct horse")
        }
        context.parameters = try KeySource.passphrase.create(context).parameters
        _ = try KeySource.passphrase.load(context)
        #expect(asked.withLock { $0 } == [true, false])
    }

    @Test func `the error without a passphrase names every way to give one`() {
        expect(.unavailable, saying: "TOKENSTORE_PASSPHRASE", "file descriptor", "terminal") {
            _ = try KeySource.passphrase.create(context(nil))
        }
    }

    @Test func `an empty passphrase is refused`() throws {
        let pipe = try FilledPipe(holding: "\nhunter2\n")
        var asking = context(nil)
        asking.askPassphrase = { _ in Secret("") }
        expect(.malformed, saying: "empty") { _ = try KeySource.passphrase.create(context("")) }
        expect(.malformed, saying: "empty") { _ = try KeySource.passphrase.create(asking) }
        expect(.malformed, saying: "empty") {
            _ = try KeySource.passphrase(descriptor: pipe.descriptor).create(context(nil))
        }
    }

    @Test func `an endless passphrase is refused`() throws {
        let pipe = try FilledPipe(holding: String(repeating: "x", count: 5000))
        expect(.malformed, saying: "4096") {
            _ = try KeySource.passphrase(descriptor: pipe.descriptor).create(context(nil))
        }
    }

    private func context(_ passphrase: String?, _ parameters: [String: String] = [:]) -> KeySourceContext {
        var context = KeySourceContext(
            directory: "/nonexistent",
            storeID: [],
            environment: passphrase.map { ["TOKENSTORE_PASSPHRASE": $0] } ?? [:],
            parameters: parameters
        )
        context.scryptCost = ScryptCost(rounds: 16, blockSize: 1, parallelism: 1)
        return context
    }
}
