import OAuth
import Sealing
import TestSupport
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

struct FileSourceTests {
    private let directory: TemporaryDirectory
    private let context: KeySourceContext

    init() throws {
        directory = try TemporaryDirectory()
        context = KeySourceContext(directory: directory.path, storeID: [], environment: [:])
    }

    @Test func `a new key file holds 32 bytes for its owner alone, and loads`() throws {
        let (key, parameters) = try KeySource.file.create(context)
        let attributes = try FileManager.default.attributesOfItem(atPath: directory.file("key"))
        #expect(attributes[.size] as? Int == 32)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(parameters.isEmpty)
        #expect(try KeySource.file.load(context).id == key.id)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["key"])
    }

    @Test func `a valid key file is used, not replaced`() throws {
        try directory.write(String(repeating: "k", count: 32), to: "mine", mode: 0o400)
        let source = KeySource.file(directory.file("mine"))
        let expected = KeyEncryptionKey(bytes: Secret(String(repeating: "k", count: 32)))
        #expect(try source.create(context).key.id == expected.id)
        #expect(try source.load(context).id == expected.id)
    }

    @Test func `concurrent creations of a key file get one key`() async throws {
        let ids = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<16 { group.addTask { try KeySource.file.create(context).key.id } }
            return try await group.reduce(into: Set()) { $0.insert($1) }
        }
        #expect(ids == [try KeySource.file.load(context).id])
    }

    @Test(arguments: [false, true], [false, true])
    func `a key file that was made goes again unless it was used or there before`(isUsed: Bool, wasThere: Bool) throws {
        struct Refusal: Error {}
        if wasThere { _ = try KeySource.file.create(context) }
        #expect(throws: Refusal.self) {
            try KeySource.file.create(context) { _, _, use in
                if isUsed { use.begin() }
                throw Refusal()
            }
        }
        #expect(FileManager.default.fileExists(atPath: directory.file("key")) == (isUsed || wasThere))
    }

    @Test func `who makes a key file keeps others from its key until it is used`() throws {
        var other = context
        other.lockTimeout = .milliseconds(20)
        try KeySource.file.create(context) { _, _, use in
            let error = #expect(throws: SealingError.self) { _ = try KeySource.file.create(other) }
            #expect(error?.code == .keyBusy)
            use.begin()
        }
        #expect(try KeySource.file.create(other).key.id == KeySource.file.load(context).id)
    }

    @Test func `a file beside the key is neither used nor removed`() throws {
        try directory.write("short", to: "key.new")
        expect(.absent, saying: "is missing") { _ = try KeySource.file.load(context) }
        let key = try KeySource.file.create(context).key
        #expect(try KeySource.file.load(context).id == key.id)
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted() == ["key", "key.new"])
    }

    @Test func `a draft of a file leaves nothing behind when it is dropped`() throws {
        let file = directory.file("draft")
        func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: directory.path) }
        let secret = Array("half a document".utf8)
        var draft = try #require(DraftFile(for: file) as DraftFile?)
        #expect(secret.withUnsafeBytes { draft.append($0) })
        #if os(Linux)
        #expect(try names().isEmpty)
        #endif
        draft = try #require(DraftFile(for: file))
        #expect(try names().isEmpty || names().count == 1, "the first one is gone")
        #expect(secret.withUnsafeBytes { draft.append($0) })
        #expect(draft.commit(replacing: false))
        #expect(try names() == ["draft"])
        let next = try #require(DraftFile(for: file))
        #expect(!next.commit(replacing: false))
        #expect(next.commit(replacing: true))
        #expect(try names() == ["draft"])
        #expect(try Data(contentsOf: URL(filePath: file)).isEmpty)
    }

    @Test func `a key file's lock is waited for only up to the limit`() throws {
        let holder = open(directory.path, O_RDONLY | O_DIRECTORY)
        defer { close(holder) }
        try #require(flock(holder, LOCK_EX) == 0)
        var context = context
        context.lockTimeout = .milliseconds(50)
        let error = #expect(throws: SealingError.self) { _ = try KeySource.file.create(context) }
        #expect(error?.code == .keyBusy)
        #expect(error?.problem.contains(directory.path) == true)
        flock(holder, LOCK_UN)
        #expect(throws: Never.self) { _ = try KeySource.file.create(context) }
    }

    @Test func `loading never creates a key`() throws {
        expect(.absent, saying: directory.file("key"), "from a copy") { _ = try KeySource.file.load(context) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test(arguments: [0o644, 0o640, 0o604, 0o660, 0o610])
    func `a file that others may use is refused with the mode it needs`(mode: Int) throws {
        let path = try directory.write(String(repeating: "k", count: 32), to: "key", mode: mode)
        for attempt in attempts { expect(.insecure, saying: "change the mode of \(path) to 600", from: attempt) }
    }

    @Test(arguments: [0, 5, 31, 33, 44])
    func `a key file of another length is refused`(count: Int) throws {
        try directory.write(String(repeating: "k", count: count), to: "key")
        for attempt in attempts { expect(.malformed, saying: "32 bytes", from: attempt) }
    }

    @Test(arguments: [0o644, 0o640])
    func `a file of another program is refused without a mode that it needs`(mode: Int) throws {
        try directory.write("root:x:0:0", to: "key", mode: mode)
        for attempt in attempts { expect(.malformed, saying: "32 bytes", "name the key file", from: attempt) }
    }

    @Test func `a damaged file that the store records is to be restored`() throws {
        try directory.write("short", to: "key")
        var context = context
        context.recordedSource = .file
        let named = try KeySource(parsing: "file:" + directory.file("key"))
        for source in [.file, named] {
            expect(.malformed, saying: "from a copy") { _ = try source.load(context) }
        }
    }

    @Test func `a symbolic link is refused`() throws {
        try directory.write(String(repeating: "k", count: 32), to: "real")
        try FileManager.default.createSymbolicLink(
            atPath: directory.file("key"),
            withDestinationPath: directory.file("real")
        )
        for attempt in attempts { expect(.insecure, saying: "symbolic link", from: attempt) }
    }

    @Test func `a directory in the file's place is refused`() throws {
        try FileManager.default.createDirectory(
            atPath: directory.file("key"),
            withIntermediateDirectories: false,
            attributes: [.posixPermissions: 0o700]
        )
        for attempt in attempts { expect(.insecure, saying: "is not a regular file", from: attempt) }
    }

    @Test func `a file with a second hard link is refused`() throws {
        try directory.write(String(repeating: "k", count: 32), to: "key")
        try FileManager.default.linkItem(atPath: directory.file("key"), toPath: directory.file("other"))
        for attempt in attempts { expect(.insecure, saying: "2 names", "-samefile", from: attempt) }
    }

    @Test(.enabled(if: geteuid() == 0, "only root can give a file away"))
    func `the file of another user is refused`() throws {
        let path = try directory.write(String(repeating: "k", count: 32), to: "key")
        try FileManager.default.setAttributes([.ownerAccountID: 12345], ofItemAtPath: path)
        for attempt in attempts { expect(.insecure, saying: "user 12345", "give", from: attempt) }
    }

    @Test func `a missing directory is named with the mode it needs`() {
        let source = KeySource.file(directory.file("missing/key"))
        let error = #expect(throws: SealingError.self) { _ = try source.create(context) }
        #expect(error?.code == .keyAbsent)
        #expect(error?.remedy == .createDirectory(directory.file("missing")))
    }

    private var attempts: [() throws -> Void] {
        [{ _ = try KeySource.file.load(context) }, { _ = try KeySource.file.create(context) }]
    }
}
