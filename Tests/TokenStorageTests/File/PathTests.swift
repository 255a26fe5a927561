import Foundation
import OAuth
import Sealing
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

@Suite(.aboutFiles("paths lead to files"))
struct PathTests {
    @Test(arguments: [EMFILE, ENFILE])
    func `where no more files can be open, the advice is to allow more`(code: Int32) {
        errno = code
        let error = StoreFile.failure("opened", "x")
        #expect(error.code == .file)
        #expect(error.remedy == Remedy(.retry, "allow this program more open files, and try again"))
    }

    @Test(arguments: [EMFILE, ENOSPC])
    func `where nothing more can be watched, the advice is to watch less`(code: Int32) {
        errno = code
        let error = CommitObserver.failure("/d")
        #expect(error.problem.hasPrefix("/d cannot be watched, as this user watches too many places"))
        #expect(error.remedy?.code == .retry)
        #expect(error.remedy?.advice.contains("max_user_watches") == true)
    }

    @Test func `a directory path means the store in it, any other path the file`() throws {
        let directory = try TemporaryDirectory()
        #expect(StorePath(directory.path).database == directory.file("tokenstore.db"))
        #expect(StorePath(directory.path + "/").database == directory.file("tokenstore.db"))
        #expect(StorePath(directory.file("x.db")).database == directory.file("x.db"))
        #expect(StorePath(directory.file("absent/")).database == directory.file("absent/tokenstore.db"))
        #expect(StorePath(directory.file("absent")).database == directory.file("absent"))
        #expect(StorePath(directory.file("x.db")).directory == directory.path)
        #expect(StorePath("/x.db").directory == "/")
        #expect(StorePath("x.db").database.hasPrefix("/"))
    }

    @Test func `links on the way are followed`() throws {
        let directory = try TemporaryDirectory()
        let link = directory.file("link")
        try FileManager.default.createDirectory(atPath: directory.file("real"), withIntermediateDirectories: false)
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory.file("real"))
        #expect(StorePath(link + "/x.db").database == directory.file("real/x.db"))
        #expect(StorePath(link).database == directory.file("real/tokenstore.db"))
    }

    @Test(arguments: [244, 248, 255])
    func `a name without room for the files beside it is said to be too long`(count: Int) throws {
        let directory = try TemporaryDirectory()
        let path = StorePath(directory.file(String(repeating: "n", count: count)))
        let error = expectError(.failure) { _ = try TokenStore.open(at: path, options: TestStore.options(TestClock())) }
        #expect(error?.problem.contains("is too long for a store") == true, "\(error?.problem ?? "")")
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        let longest = StorePath(directory.file(String(repeating: "n", count: 243)))
        try TokenStore.open(at: longest, options: TestStore.options(TestClock())).close()
    }

    @Test(
        arguments: [
            (["TOKENSTORE_PATH": "/a/b.db", "XDG_STATE_HOME": "/x", "HOME": "/h"], "/a/b.db"),
            (["TOKENSTORE_PATH": "", "XDG_STATE_HOME": "/x", "HOME": "/h"], "/x/tokenstore/tokenstore.db"),
            (["XDG_STATE_HOME": "", "HOME": "/h"], "/h/.local/state/tokenstore/tokenstore.db"),
            (["XDG_STATE_HOME": "state", "HOME": "/h"], "/h/.local/state/tokenstore/tokenstore.db"),
            (["XDG_STATE_HOME": "./x", "HOME": "/h"], "/h/.local/state/tokenstore/tokenstore.db"),
        ]
    )
    func `the place of a store comes from the environment`(environment: [String: String], path: String) {
        #if os(Linux)
        #expect(StorePath.standard(environment: environment).database == path)
        #endif
    }

    @Test(arguments: [[:], ["HOME": ""], ["HOME": "h"]] as [[String: String]])
    func `without an absolute HOME the recorded directory counts`(environment: [String: String]) throws {
        let directory = try TemporaryDirectory()
        let recorded = StorePath.standard(environment: environment, recorded: directory.path)
        #expect(recorded.directory.hasPrefix(directory.path + "/"))
        let none = StorePath.standard(environment: environment, recorded: nil)
        let error = expectError(.failure) { _ = try TokenStore.open(at: none, options: TestStore.options(TestClock())) }
        #expect(error?.problem.hasPrefix("HOME is not set to an absolute path") == true, "\(error?.problem ?? "")")
        #expect(error?.remedy == .choosePath)
    }

    @Test func `a path of 500 bytes is the longest, and no directory is made for a longer one`() throws {
        let directory = try TemporaryDirectory()
        func path(_ count: Int) -> StorePath {
            let long = directory.file(String(repeating: "d", count: 200) + "/" + String(repeating: "e", count: 180))
            return StorePath(long + "/" + String(repeating: "n", count: count - long.utf8.count - 1))
        }
        let error = expectError(.failure) {
            _ = try TokenStore.open(at: path(501), options: TestStore.options(TestClock()))
        }
        #expect(error?.problem.contains("is too long for a store") == true, "\(error?.problem ?? "")")
        #expect(error?.remedy?.advice == "give one of at most 500 bytes")
        #expect(throws: TokenStoreError.self) {
            _ = try TokenStore.inspect(at: path(501), options: TestStore.options(TestClock()))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
        try TokenStore.open(at: path(500), options: TestStore.options(TestClock())).close()
    }

    @Test func `a combining mark behind a slash does not change the path`() throws {
        let directory = try TemporaryDirectory()
        let path = StorePath(directory.file("\u{301}a/\u{301}b.db"))
        #expect(path.directory == directory.file("\u{301}a"))
        #expect(path.lock == directory.file("\u{301}a/\u{301}b.lock"))
        let options = TestStore.options(TestClock()) { $0.keySource = .file(directory.file("\u{301}a/\u{301}key")) }
        let store = try TokenStore.open(at: path, options: options)
        try store.take(JSONValue.standardCache(.accessToken("a", "s1")).serialized)
        let names = try FileManager.default.contentsOfDirectory(atPath: path.directory).sorted()
        #expect(names == ["\u{301}b.db", "\u{301}b.db-shm", "\u{301}b.db-wal", "\u{301}b.lock", "\u{301}key"])
        let files = StoreFiles(path, source: options.keySource)
        for name in names { #expect(files.includes(path.directory + "/" + name), "\(name)") }
    }

    @Test func `a new store, its directory, key and lock are private`() throws {
        let directory = try TemporaryDirectory()
        let path = StorePath(directory.file("deep/er/tokenstore.db"))
        let store = try TokenStore.open(at: path, options: TestStore.options(TestClock()))
        try store.take(JSONValue.standardCache(.accessToken("a", "s1")).serialized)
        func mode(_ path: String) throws -> Int? {
            try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        }
        for name in ["deep", "deep/er"] { #expect(try mode(directory.file(name)) == 0o700) }
        for name in ["tokenstore.db", "tokenstore.db-wal", "tokenstore.db-shm", "tokenstore.lock", "key"] {
            #expect(try mode(directory.file("deep/er/\(name)")) == 0o600, "\(name)")
        }
    }

    /// Expects advice to take another directory, and none to close this one to others.
    private func expectAdviceToMove(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) {
        let error = expectError(.failure, sourceLocation: sourceLocation) {
            _ = try TokenStore.open(at: StorePath(path), options: TestStore.options(TestClock()))
        }
        #expect(error?.remedy?.code == .moveStore, sourceLocation: sourceLocation)
    }

    @Test(arguments: [0o1777, 0o777, 0o1755])
    func `a directory for everyone is refused with advice to move the store`(mode: Int) throws {
        let directory = try TemporaryDirectory()
        #expect(chmod(directory.path, mode_t(mode)) == 0)
        expectAdviceToMove(directory.file("tokenstore.db"))
    }

    @Test(arguments: ["/dev/null", "/etc/tokenstore.db"])
    func `a system directory is refused with advice to move the store`(path: String) {
        expectAdviceToMove(path)
    }

    @Test(arguments: [true, false])
    func `a directory with what others use is refused with advice to move the store`(isDirectory: Bool) throws {
        let directory = try TemporaryDirectory()
        let other = directory.file("other")
        #expect(isDirectory ? mkdir(other, 0o755) == 0 : FileManager.default.createFile(atPath: other, contents: nil))
        #expect(chmod(other, isDirectory ? 0o755 : 0o644) == 0)
        #expect(chmod(directory.path, 0o755) == 0)
        expectAdviceToMove(directory.file("tokenstore.db"))
    }

    @Test func `a directory with what others use is refused with advice to move a store that is there`() throws {
        let fixture = try TestStore()
        fixture.store.close()
        let other = fixture.directory.file("other")
        #expect(FileManager.default.createFile(atPath: other, contents: nil))
        #expect(chmod(other, 0o644) == 0)
        #expect(chmod(fixture.directory.path, 0o755) == 0)
        expectAdviceToMove(fixture.path.database)
    }

    @Test func `a directory with a pipe in it is refused with advice to move the store`() throws {
        let directory = try TemporaryDirectory()
        #expect(mkfifo(directory.file("pipe"), 0o600) == 0)
        #expect(chmod(directory.path, 0o755) == 0)
        expectAdviceToMove(directory.file("pipe"))
    }

    @Test(
        .enabled(if: geteuid() == 0, "only root can give a directory away"),
        arguments: ["tokenstore.db", ".local/state/tokenstore.db"]
    )
    func `a directory of another user is refused with advice to move the store`(name: String) throws {
        let directory = try TemporaryDirectory()
        #expect(chown(directory.path, 12_345, 12_345) == 0)
        expectAdviceToMove(directory.file(name))
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path).isEmpty)
    }

    @Test func `two locks of one process exclude each other until one is released`() throws {
        let fixture = try TestStore()
        var held: KernelLock? = try KernelLock(.rekey, of: fixture.path, timeout: .zero)
        expectError(.busy) { _ = try KernelLock(.rekey, of: fixture.path, timeout: .milliseconds(5)) }
        _ = try KernelLock(.schema, of: fixture.path, timeout: .zero)
        withExtendedLifetime(held) {}
        held = nil
        _ = try KernelLock(.rekey, of: fixture.path, timeout: .zero)
    }

    @Test func `threads that create a store at the same time make one`() async throws {
        let directory = try TemporaryDirectory()
        let path = StorePath(directory.file("tokenstore.db"))
        let options = TestStore.options(TestClock())
        try await withThrowingTaskGroup(of: Date.self) { group in
            for number in 0..<16 {
                group.addTask {
                    let store = try TokenStore.open(at: path, options: options)
                    let row = JSONValue.account(["home_account_id": .string("u\(number).t1")])
                    try store.take(JSONValue.cache(accounts: [row]).serialized)
                    return try store.status().createdAt
                }
            }
            for try await created in group { #expect(created == Fixture.date()) }
        }
        await #expect(try TokenStore.open(at: path, options: options).accounts().count == 16)
    }
}
