import OAuth
import Testing

struct Base64URLTests {
    @Test(
        arguments: [
            ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
            ("foobar", "Zm9vYmFy"), ("\u{FB}\u{FF}~~?", "w7vDv35-Pw"),
        ]
    )
    func `the examples of the standard go both ways`(text: String, encoded: String) {
        #expect(Base64URL.encode(text.utf8) == encoded)
        #expect(Base64URL.decode(encoded.utf8) == Array(text.utf8))
    }

    @Test func `all bytes are encoded and decoded without loss`() {
        let bytes = Array(UInt8.min...UInt8.max)
        for count in 0..<bytes.count {
            #expect(Base64URL.decode(Base64URL.encode(bytes[..<count]).utf8) == Array(bytes[..<count]))
        }
    }

    @Test(arguments: ["Zg==", "Zm8=", "Zg="])
    func `padding is accepted`(text: String) { #expect(Base64URL.decode(text.utf8) != nil) }

    @Test(arguments: ["Z", "Zm9vY", "Zm+v", "Zm/v", "Zm 9v", "Zg==Zg", "Zh", "Zm9", "=", "===", "Zm9v\n", "Zmü"])
    func `anything else is refused`(text: String) {
        // A lone padding character has no meaning.
        #expect(Base64URL.decode(text.utf8) == (text == "=" ? [] : nil))
    }

    @Test(arguments: ["+", "/", "=", " ", "\n", "\u{0}", "\u{7f}", "é"])
    func `what is no digit is refused wherever it stands`(stranger: String) {
        for count in 1...13 {
            for index in 0..<count {
                var text = Array(repeating: "Q", count: count)
                text[index] = stranger
                // Padding may stand at the end, and nowhere else.
                guard stranger != "=" || index < count - 1 else { continue }
                #expect(Base64URL.decode(text.joined().utf8) == nil, "\(text)")
            }
        }
    }
}
