import Foundation
import OAuth
import Sealing
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// The place of a store that is made by the first sign-in: what would keep it from being made is said before, and what
/// comes in between costs no tokens.
@Suite(.aboutFiles("a store on a server is made by a command of its own"))
struct NewStoreTests {
    /// Signs in as programs do, to a store that is not there yet.
    private static func signIn(to path: StorePath) async throws -> SavedTokens {
        let store = TokenStore.deferred(at: path)
        defer { store.close() }
        let request = TokenRequest(
            clientID: Fixture.client,
            authority: try Authority(parsing: "https://login.microsoftonline.com/t1"),
            scope: "s1",
            grant: .authorizationCode
        )
        let space = try await store.perform { try $0.reserveAnswerSpace() }
        return try await store.save(.signIn(), for: request, in: space)
    }

    @Test(.enabled(if: ReadOnlyMount.isPossible, "only root can mount a file system"))
    func `a first sign-in finds room for the store where there was room for the answer`() async throws {
        let disk = try ReadOnlyMount(ofKind: "tmpfs", "size=600k,mode=0700")
        defer { disk.end() }
        let path = StorePath(disk.path + "/tokenstore.db")
        #expect(try await Self.signIn(to: path).outcome == .stored)
        #expect(try await TokenStore.open(at: path).accounts().count == 1)
    }

    @Test(
        .enabled(if: ReadOnlyMount.isPossible, "only root can mount a file system"),
        arguments: Array(stride(from: 520, through: 600, by: 8)),
        ["", "state/of/mara/"]
    )
    func `whatever room there is, a first sign-in that is said to be kept is stored`(
        kilobytes: Int,
        directory: String
    ) async throws {
        let disk = try ReadOnlyMount(ofKind: "tmpfs", "size=\(kilobytes)k,mode=0700")
        defer { disk.end() }
        let path = StorePath(disk.path + "/" + directory + "tokenstore.db")
        do {
            _ = try await Self.signIn(to: path)
        } catch let error as TokenStoreError {
            #expect(error.remedy?.code == .freeSpace, "\(error)")
            #expect(try path.pendingAnswers().isEmpty)
            return
        }
        try disk.change("size=8m")
        let store = try await TokenStore.open(at: path)
        defer { store.close() }
        try store.takeInAnswers()
        #expect(try await store.accounts().count == 1)
        #expect(try path.pendingAnswers().isEmpty)
        #expect(try FileManager.default.contentsOfDirectory(atPath: disk.path).allSatisfy { $0 != "new" })
    }

    @Test func `an answer for a new store is kept under a name that is taken in`() throws {
        let place = try TemporaryDirectory()
        let path = StorePath(place.path + "/state/tokenstore.db")
        let room = try AnswerRoom(forStoreAt: path)
        try FileManager.default.createDirectory(atPath: path.directory, withIntermediateDirectories: false)
        try room.publish(Array("answer".utf8))
        #expect(try path.pendingAnswers() == [room.file.name])
        #expect(try String(contentsOfFile: room.file.name, encoding: .utf8) == "answer")
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path) == ["state"])
    }

    /// The error of the look that comes before a person signs in.
    private static func problem(_ path: String, key: KeySource? = nil) -> TokenStoreError? {
        var options = StoreOptions()
        options.keySource = key
        do {
            try TokenStore.requireCreatable(at: StorePath(path), options: options)
            return nil
        } catch {
            return error as? TokenStoreError
        }
    }

    @Test(.enabled(if: ReadOnlyMount.isPossible, "only root can mount a file system"))
    func `a file system that is refused is refused before directories are made on it`() throws {
        let mount = try ReadOnlyMount(ofKind: "hugetlbfs")
        defer { mount.end() }
        let path = mount.path + "/state/tokenstore/tokenstore.db"
        #expect(Self.problem(path)?.problem.contains("type 0x958458f6") == true)
        #expect(throws: TokenStoreError.self) { try TokenStore.open(at: StorePath(path)) }
        #expect(try FileManager.default.contentsOfDirectory(atPath: mount.path).isEmpty)
    }

    @Test(.enabled(if: ReadOnlyMount.isPossible, "only root can mount a file system"))
    func `advice to change the mode of a directory is given only where there are modes`() throws {
        let mount = try ReadOnlyMount(ofKind: "hugetlbfs", "mode=0755")
        defer { mount.end() }
        #expect(Self.problem(mount.path + "/tokenstore.db")?.remedy?.code == .moveStore)
    }

    @Test(.enabled(if: ReadOnlyMount.isPossible, "only root can mount a file system"))
    func `a file system without room for the files of a store is said before the sign-in`() throws {
        let disk = try ReadOnlyMount(ofKind: "tmpfs", "nr_inodes=6,mode=0700")
        defer { disk.end() }
        let error = Self.problem(disk.path + "/tokenstore.db")
        #expect(error?.remedy?.code == .freeSpace)
        #expect(error?.problem.contains("no room for more files") == true)
    }

    @Test(arguments: ["state", "state/inner"])
    func `a symbolic link that leads nowhere is said before the sign-in`(directory: String) throws {
        let place = try TemporaryDirectory()
        try FileManager.default.createSymbolicLink(
            atPath: place.path + "/state",
            withDestinationPath: place.path + "/gone"
        )
        let error = Self.problem("\(place.path)/\(directory)/tokenstore.db")
        #expect(error?.problem.contains("/state is a symbolic link that leads nowhere") == true)
    }

    @Test(arguments: [
        "tokenstore.lock", "tokenstore.db.new", "tokenstore.db.new-wal", "tokenstore.db-shm", "tokenstore.db-journal",
    ])
    func `what is in the way of a new store is said before the sign-in, and stays`(name: String) throws {
        let place = try TemporaryDirectory()
        let file = place.path + "/" + name
        try FileManager.default.createDirectory(atPath: file, withIntermediateDirectories: false)
        let error = Self.problem(place.path + "/tokenstore.db")
        #expect(error?.problem.contains("/\(name) is in the way") == true, "\(String(describing: error))")
        #expect(FileManager.default.fileExists(atPath: file))
    }

    @Test(arguments: ["", "/", "/tokenstore.db", "/tokenstore.lock"])
    func `a key file under a name of a store that is yet to be made is refused`(name: String) throws {
        let place = try TemporaryDirectory()
        let error = Self.problem(place.path + "/state/tokenstore.db", key: .file(place.path + "/state" + name))
        #expect(error?.code == .invalidArgument)
        #expect(Self.problem(place.path + "/state/tokenstore.db", key: .file(place.path + "/state/key")) == nil)
    }

    @Test func `a key file that cannot be made is said before the sign-in`() throws {
        let place = try TemporaryDirectory()
        let error = Self.problem(place.path + "/tokenstore.db", key: .file("/proc/key"))
        #expect(error?.code == .key)
        #expect(error?.problem.contains("/proc/key cannot be created") == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.path).isEmpty)
    }
}
