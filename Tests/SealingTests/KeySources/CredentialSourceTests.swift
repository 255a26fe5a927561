import OAuth
import Sealing
import TestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct CredentialSourceTests {
    private let directory: TemporaryDirectory
    private let context: KeySourceContext
    private let expected = KeyEncryptionKey(bytes: Secret(String(repeating: "k", count: 32)))

    init() throws {
        directory = try TemporaryDirectory()
        context = KeySourceContext(
            directory: "/nonexistent",
            storeID: [],
            environment: ["CREDENTIALS_DIRECTORY": directory.path]
        )
    }

    @Test(
        arguments: [
            String(repeating: "k", count: 32), "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s=",
            "a2tra2tra2tra2tra2tra2tra2tra2tra2tra2tra2s\n", String(repeating: "6b", count: 32) + "\r\n",
        ],
        [0o400, 0o440, 0o600]
    )
    func `a credential is 32 bytes or their text`(contents: String, mode: Int) throws {
        let path = try directory.write(contents, to: "store-key", mode: mode)
        #expect(try KeySource.credential("store-key").load(context).id == expected.id)
        #expect(try KeySource.credential(path).create(context).key.id == expected.id)
    }

    @Test func `a link to a credential is followed`() throws {
        try directory.write(String(repeating: "k", count: 32), to: "real")
        try FileManager.default.createSymbolicLink(atPath: directory.file("link"), withDestinationPath: "real")
        #expect(try KeySource.credential("link").load(context).id == expected.id)
    }

    @Test func `a credential that everyone may read is refused with the mode it needs`() throws {
        let path = try directory.write(String(repeating: "k", count: 32), to: "key", mode: 0o644)
        expect(.insecure, saying: "change the mode of \(path) to o-rwx") {
            _ = try KeySource.credential("key").load(context)
        }
    }

    @Test func `a file of another program is refused without a mode that it needs`() throws {
        try directory.write("root:x:0:0", to: "key", mode: 0o644)
        expect(.malformed, saying: "is not a key", "base64") { _ = try KeySource.credential("key").load(context) }
    }

    @Test(arguments: ["", "short", String(repeating: "k", count: 33), String(repeating: "A", count: 2000)])
    func `a credential with other contents is refused`(contents: String) throws {
        try directory.write(contents, to: "key")
        expect(.malformed, saying: "base64") { _ = try KeySource.credential("key").load(context) }
    }

    @Test func `a directory in the credential's place is refused`() throws {
        expect(.insecure, saying: "not a regular file") { _ = try KeySource.credential(directory.path).load(context) }
    }

    @Test func `neither loading nor creating writes a credential`() throws {
        let source = try KeySource.credential("key")
        expect(.absent, saying: directory.file("key"), "LoadCredential=") { _ = try source.load(context) }
        expect(.absent, saying: directory.file("key")) { _ = try source.create(context) }
    }

    @Test func `without a credentials directory a name means nothing`() throws {
        let context = KeySourceContext(directory: directory.path, storeID: [], environment: [:])
        expect(.unavailable, saying: "CREDENTIALS_DIRECTORY") { _ = try KeySource.credential("key").load(context) }
    }
}
