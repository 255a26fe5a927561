import OAuth
import Sealing
import TestTraits
import Testing

@Suite(.onWaitingThreads)
struct KeySourceTests {
    @Test(arguments: [
        "file", "file:/srv/my keys/key", "file:/srv/a:b", "passphrase", "passphrase:fd=3", "secret-service",
        "keychain", "keychain:ABCDE12345.com.example.app",
        "credential:store-key", "credential:/run/secrets/key", "environment",
    ])
    func `a source is printed as it is read`(text: String) throws {
        let source = try KeySource(parsing: text)
        #expect(source.description == text)
        #expect(try KeySource(parsing: source.description) == source)
        #expect(source.kind.rawValue == text.prefix { $0 != ":" })
    }

    @Test(arguments: [
        "", "File", "keyhole", "keychain:", "file:", "file:/tmp/", "file:~/key", "passphrase:", "passphrase:fd=",
        "passphrase:fd=-1", "passphrase:fd=x", "passphrase:hunter2", "secret-service:x", "credential", "credential:",
        "credential:..",
        "credential:../key", "credential:a/b", "environment:KEY",
    ])
    func `a text that names no source is refused`(text: String) throws {
        let error = #expect(throws: SealingError.self) { try KeySource(parsing: text) }
        #expect(error?.code == .unusableSource)
    }

    @Test func `the error of an unknown source names the forms`() throws {
        let error = #expect(throws: SealingError.self) { try KeySource(parsing: "keyhole") }
        let text = try #require(error).description
        for kind in KeySource.Kind.allCases { #expect(text.contains(kind.rawValue)) }
    }

    #if !canImport(Security)
    @Test func `the keychain is for Apple's systems, and another source is named`() throws {
        let context = KeySourceContext(directory: "/", storeID: [])
        for source in [KeySource.keychain, .keychain(accessGroup: "group")] {
            for use in [{ _ = try source.load(context) }, { _ = try source.create(context) }] {
                let error = #expect(throws: SealingError.self) { try use() }
                #expect(error?.code == .keyUnavailable)
                #expect(error?.remedy?.keySource == "file")
            }
        }
    }
    #endif

    @Test func `a relative path is resolved against the current directory`() throws {
        let text = try KeySource(parsing: "file:keys/key").description
        #expect(text.hasPrefix("file:/"))
        #expect(text.hasSuffix("/keys/key"))
    }

    @Test func `a store does not record a file descriptor`() throws {
        #expect(try KeySource(parsing: "passphrase:fd=3").recorded == .passphrase)
        #expect(try KeySource(parsing: "file:/key").recorded == .file("/key"))
    }
}
