import OAuth
import Sealing
import Testing

struct KeySourceTests {
    @Test(arguments: [
        "file", "file:/srv/my keys/key", "file:/srv/a:b", "passphrase", "passphrase:fd=3", "secret-service",
        "credential:store-key", "credential:/run/secrets/key", "environment",
    ])
    func `a source is printed as it is read`(text: String) throws {
        let source = try KeySource(parsing: text)
        #expect(source.description == text)
        #expect(try KeySource(parsing: source.description) == source)
        #expect(source.kind.rawValue == text.prefix { $0 != ":" })
    }

    @Test(arguments: [
        "", "File", "keychain", "file:", "file:/tmp/", "file:~/key", "passphrase:", "passphrase:fd=",
        "passphrase:fd=-1", "passphrase:fd=x", "passphrase:hunter2", "secret-service:x", "credential", "credential:",
        "credential:..",
        "credential:../key", "credential:a/b", "environment:KEY",
    ])
    func `a text that names no source is refused`(text: String) throws {
        let error = #expect(throws: SealingError.self) { try KeySource(parsing: text) }
        #expect(error?.code == .unusableSource)
    }

    @Test func `the error of an unknown source names the forms`() throws {
        let error = #expect(throws: SealingError.self) { try KeySource(parsing: "keychain") }
        let text = try #require(error).description
        for kind in KeySource.Kind.allCases { #expect(text.contains(kind.rawValue)) }
    }

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
