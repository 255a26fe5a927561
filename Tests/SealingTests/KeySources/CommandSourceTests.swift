import Foundation
import OAuth
import Sealing
import TestSupport
import TestTraits
import Testing

/// The key source `command:/PATH`.
@Suite(.onWaitingThreads)
struct CommandSourceTests {
    private let directory: TemporaryDirectory
    private let path: String

    /// A service that keeps its key to itself: here it moves letters by thirteen places.
    private static let rotating = "exec tr A-Za-z N-ZA-Mn-za-m"

    init() throws {
        directory = try TemporaryDirectory()
        path = directory.file("wrapper")
        try write(Self.rotating)
    }

    private func write(_ script: String, mode: Int = 0o700) throws {
        try Data("#!/bin/sh\n\(script)\n".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
    }

    private func context(_ parameters: [String: String] = [:], named: KeySource? = nil) -> KeySourceContext {
        var context = KeySourceContext(
            directory: directory.path,
            storeID: [],
            environment: ["PATH": "/usr/bin:/bin"],
            parameters: parameters,
            deadline: .seconds(60)
        )
        context.namedSource = named
        return context
    }

    private func error(_ body: () throws -> Void) -> SealingError? {
        #expect(throws: SealingError.self) { try body() }
    }

    @Test func `a key is wrapped by the program, and unwrapped where it is named`() throws {
        let source = try KeySource(parsing: "command:\(path)")
        #expect(source == .command(path))
        #expect(source.description == "command:\(path)")
        let (key, parameters) = try source.create(context())
        #expect(Array(parameters.keys) == ["wrapped"])
        #expect(try source.load(context(parameters, named: source)).id == key.id)
        #expect(try source.create(context()).key.id != key.id)
    }

    @Test func `a store does not choose the program that runs`() throws {
        let source = KeySource.command(path)
        let (key, parameters) = try source.create(context())
        try write("touch \(directory.file("ran")); exec tr A-Za-z N-ZA-Mn-za-m")
        let refusal = error { _ = try source.load(context(parameters)) }
        #expect(refusal?.code == .keyUnavailable)
        #expect(refusal?.remedy?.keySource == "command:\(path)")
        #expect(error { _ = try source.load(context(parameters, named: .command("/bin/false"))) } != nil)
        #expect(!FileManager.default.fileExists(atPath: directory.file("ran")))
        var trusting = context(parameters)
        trusting.environment["TOKENSTORE_KEY_COMMAND"] = path
        #expect(try source.load(trusting).id == key.id)
        #expect(FileManager.default.fileExists(atPath: directory.file("ran")))
    }

    @Test func `the program gets one word, no key of ours and nothing of a shell`() throws {
        let seen = directory.file("seen")
        try write("echo \"$#,$1,$TOKENSTORE_KEY,$VISIBLE\" >> '\(seen)'; exec tr A-Za-z N-ZA-Mn-za-m")
        var context = context()
        context.environment["TOKENSTORE_KEY"] = "secret"
        context.environment["VISIBLE"] = "yes"
        _ = try KeySource.command(path).create(context)
        #expect(try String(contentsOfFile: seen, encoding: .utf8) == "1,wrap,,yes\n1,unwrap,,yes\n")
    }

    @Test func `the program has nothing open but its three streams, whatever the number`() throws {
        let file = open("/dev/null", O_RDONLY)
        defer { close(file) }
        try allowFiles(4_096)
        let inherited = [fcntl(file, F_DUPFD, 100), fcntl(file, F_DUPFD, 1_500)]
        defer { for copy in inherited { close(copy) } }
        #expect(inherited.allSatisfy { $0 >= 100 })
        let seen = directory.file("seen")
        try write("for file in /dev/fd/*; do echo ${file#/dev/fd/}; done > '\(seen)'; \(Self.rotating)")
        _ = try KeySource.command(path).create(context())
        let numbers = try String(contentsOfFile: seen, encoding: .utf8).split(separator: "\n").compactMap { Int32($0) }
        #expect(numbers.contains(STDIN_FILENO))
        #expect(!numbers.contains { inherited.contains($0) })
    }

    /// Raises the soft limit of open files where it is lower.
    private func allowFiles(_ count: rlim_t) throws {
        #if canImport(Glibc)
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        #else
        let files = RLIMIT_NOFILE
        #endif
        var limit = rlimit()
        try #require(getrlimit(files, &limit) == 0)
        guard limit.rlim_cur < count else { return }
        limit.rlim_cur = min(count, limit.rlim_max)
        try #require(setrlimit(files, &limit) == 0)
    }

    @Test(arguments: [
        ("exec cat", SealingError.Code.keyMalformed, "as it was"),
        ("[ $1 = wrap ] && echo blob || echo nothing", .keyMalformed, "base64"),
        ("echo blob", .keyMalformed, "base64"),
        ("true", .keyMalformed, "one line"),
        ("printf 'a\\nb\\n'", .keyMalformed, "one line"),
        ("echo hello >&2; exit 3", .keyUnavailable, "status 3"),
        ("kill -9 $$", .keyUnavailable, "status 137"),
        ("head -c 100000 /dev/zero", .keyUnavailable, "more than a key"),
    ])
    func `a program that does not wrap is told so`(script: String, code: SealingError.Code, words: String) throws {
        try write(script)
        let refusal = error { _ = try KeySource.command(path).create(context()) }
        #expect(refusal?.code == code)
        #expect(refusal?.problem.contains(words) == true)
    }

    @Test func `a program that somebody is writing is waited for`() throws {
        let writer = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        Thread.detachNewThread {
            usleep(100_000)
            try? writer.close()
        }
        _ = try KeySource.command(path).create(context())
    }

    @Test(arguments: ["wait", "exit"])
    func `a program that does not answer is ended with what it has started`(last: String) throws {
        let marker = directory.file("pid")
        try write("sleep 600 & echo $! > '\(marker)'; \(last)")
        var context = context()
        context.deadline = .milliseconds(300)
        let refusal = error { _ = try KeySource.command(path).create(context) }
        #expect(refusal?.code == .keyUnavailable)
        let text = try? String(contentsOfFile: marker, encoding: .utf8)
        guard let child = text.flatMap({ Int32($0.trimmingCharacters(in: .whitespacesAndNewlines)) }) else { return }
        let end = ContinuousClock.now + .seconds(60)
        while kill(child, 0) == 0, !isZombie(child), ContinuousClock.now < end { sched_yield() }
        #expect(kill(child, 0) != 0 || isZombie(child))
    }

    /// Whether a process has ended, and its parent has not looked yet.
    private func isZombie(_ process: Int32) -> Bool {
        (try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8))?.contains(") Z ") == true
    }

    @Test func `a program that others could change does not run`() throws {
        try write("touch '\(directory.file("ran"))'", mode: 0o720)
        #expect(error { _ = try KeySource.command(path).create(context()) }?.code == .keyInsecure)
        try write("touch '\(directory.file("ran"))'")
        try FileManager.default.setAttributes([.posixPermissions: 0o770], ofItemAtPath: directory.path)
        #expect(error { _ = try KeySource.command(path).create(context()) }?.code == .keyInsecure)
        #expect(!FileManager.default.fileExists(atPath: directory.file("ran")))
    }

    @Test(arguments: ["command", "command:", "command:wrapper", "command:./wrapper", "command:/a/"])
    func `only the absolute path of a program names one`(text: String) {
        #expect(error { _ = try KeySource(parsing: text) }?.code == .unusableSource)
    }

    @Test func `a program that is not there, or none, is named`() throws {
        for path in [directory.file("absent"), directory.path] {
            let refusal = error { _ = try KeySource.command(path).create(context()) }
            #expect(refusal?.code == .keyUnavailable)
            #expect(refusal?.problem.contains(path) == true)
        }
        #expect(error { _ = try KeySource.command(path).load(context(named: .command(path))) }?.code == .keyMalformed)
    }
}
