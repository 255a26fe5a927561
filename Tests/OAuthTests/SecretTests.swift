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

    @Test func `the text of a token is printable ASCII at every place and in every length`() {
        for length in 1...41 {
            for place in 0..<length {
                var bytes = [UInt8](repeating: UInt8(ascii: "a"), count: length)
                let wrong = (UInt8.min...UInt8.max).filter { byte in
                    bytes[place] = byte
                    let isText = bytes.withUnsafeBytes { Secret(copying: $0).isTokenText }
                    return isText != (0x20...0x7E).contains(byte)
                }
                #expect(wrong == [], "byte \(place) of \(length)")
            }
        }
        #expect(!Secret("").isTokenText)
    }

    @Test func `bytes that are not ASCII do not hide a control character behind them`() {
        for first in UInt8(0x80)...UInt8.max {
            let bytes: [UInt8] = [first, 0x1F, 0x7F, 0x61, 0x61, 0x61, 0x61, 0x61, 0x61]
            #expect(!bytes.withUnsafeBytes { Secret(copying: $0).isTokenText })
        }
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
