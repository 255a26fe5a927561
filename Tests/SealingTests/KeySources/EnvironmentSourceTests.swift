import OAuth
import Sealing
import Testing

struct EnvironmentSourceTests {
    /// `fbef…` holds both digits in which the two alphabets differ.
    static let expected = KeyEncryptionKey(
        bytes: [UInt8](repeating: 0xFB, count: 31).withUnsafeBytes { head in
            [UInt8](head + [0xEF]).withUnsafeBytes { Secret(copying: $0) }
        }
    )

    @Test(arguments: [
        "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7++8=",
        "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7++8",
        "-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7--8=",
        " -_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7-_v7--8\r\n",
        "fbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbef",
        "FBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBFBEF",
    ])
    func `a key is read from its text`(text: String) throws {
        let context = context(["TOKENSTORE_KEY": text])
        #expect(try KeySource.environment.load(context).id == Self.expected.id)
        #expect(try KeySource.environment.create(context).key.id == Self.expected.id)
    }

    @Test(arguments: [
        "hunter2", "=", "  ", "+/v7", "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7++9=",
        "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+==", "+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7+/v7",
        "+/v7+/v7+/v7+/v7+/v7+/v7 /v7+/v7+/v7+/v7++8=",
        "fbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbfbeg",
    ])
    func `a malformed key text is refused and not shown`(text: String) {
        let context = context(["TOKENSTORE_KEY": text])
        expect(.malformed, saying: "TOKENSTORE_KEY") { _ = try KeySource.environment.load(context) }
        #expect {
            try KeySource.environment.load(context)
        } throws: {
            text.count < 5 || !"\($0)".contains(text)
        }
    }

    @Test(arguments: [[:], ["TOKENSTORE_KEY": ""]])
    func `a missing variable is named, for a new store with a way to make a key`(environment: [String: String]) {
        expect(.absent, saying: "TOKENSTORE_KEY", "openssl rand -base64 32") {
            _ = try KeySource.environment.create(context(environment))
        }
        expect(.absent, saying: "TOKENSTORE_KEY", "the key that was made for the store") {
            _ = try KeySource.environment.load(context(environment))
        }
    }

    private func context(_ environment: [String: String]) -> KeySourceContext {
        KeySourceContext(directory: "/nonexistent", storeID: [], environment: environment)
    }
}
