import OAuth
import Testing

struct SecretTests {
    private struct Holder { let secret: Secret }

    @Test func `no description of a secret shows it`() {
        let secret = Secret("hunter2-token")
        var dumped = ""
        dump(Holder(secret: secret), to: &dumped)
        let printed = [
            "\(secret)", String(describing: secret), String(reflecting: secret), secret.debugDescription,
            "\(Holder(secret: secret))", "\(Optional(secret) as Any)", "\([secret])", dumped,
            "\(Mirror(reflecting: secret).children.map(\.value))",
            "\(Mirror(reflecting: Holder(secret: secret)).children.map { "\($0)" })",
        ]
        for text in printed { #expect(!text.contains("hunter2")) }
    }

    @Test func `a secret cannot be encoded by accident`() {
        #expect(!((Secret("x") as Any) is any Encodable))
        #expect(!((Secret("x") as Any) is any LosslessStringConvertible))
    }

    @Test func `equality looks at every byte`() {
        #expect(Secret("abc") == Secret("abc"))
        #expect(Secret("abc") != Secret("abd"))
        #expect(Secret("abc") != Secret("xbc"))
        #expect(Secret("abc") != Secret("abcd"))
        #expect(Secret("") == Secret(""))
    }

    @Test func `a wiped buffer holds zeros`() {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 1)
        defer { buffer.deallocate() }
        buffer.copyBytes(from: repeatElement(UInt8(0xAA), count: 64))
        wipe(buffer)
        #expect(buffer.allSatisfy { $0 == 0 })
    }

    @Test func `the text of a secret is returned without change`() {
        #expect(Secret("tökén").reveal() == "tökén")
        #expect(Secret("tökén").count == 7)
    }
}
