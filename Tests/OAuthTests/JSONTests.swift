import OAuth
import Testing

struct JSONTests {
    @Test(
        arguments: [
            "null", "true", "false", "0", "-0", "1.50", "1e400", "-12.5E-3", "\"\"", "[]", "{}", "[[],{}]",
            "[1,[2,[3]]]",
            #"{"a":1,"b":{"c":[null]}}"#, #"{"":""}"#, #"{"a":1,"a":2}"#, "123456789012345678901234567890",
        ]
    )
    func `a parsed document is written without change`(text: String) throws {
        #expect(try JSONValue(parsing: text).serialized == text)
    }

    @Test(
        arguments: [
            "", " ", "nul", "nulll", "True", "01", "-", "+1", ".5", "1.", "1e", "1e+", "0x10", "NaN", "Infinity", "'a'",
            "[1,]",
            "[,1]", "[1 2]", "[1", "]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "{\"a\":1 \"b\":2}", "{\"a\":1",
            "\"a",
            "\"\\x\"", "\"\\u12\"", "\"\\u12g4\"", "\"\\ud800\"", "\"\\ud800\\n\"", "\"\\ud800\\u0041\"", "\"\\udc00\"",
            "\"a\nb\"", "\"\u{1}\"", "1 2", "{}{}", "// x\n1", "[1]\u{0}", "\u{FEFF}1", "\u{A0}1",
        ]
    )
    func `malformed JSON is refused with its position`(text: String) {
        let error = #expect(throws: JSONError.self) { try JSONValue(parsing: text) }
        #expect(error.map { (0...text.utf8.count).contains($0.offset) } == true)
    }

    @Test func `names and texts are compared byte by byte`() throws {
        let (composed, decomposed) = ("caf\u{E9}", "cafe\u{301}")
        var object = JSONValue.Object([(composed, 1), (decomposed, 2)])
        #expect(object[composed] == 1)
        #expect(object[decomposed] == 2)
        object[composed] = 3
        object[decomposed] = nil
        #expect(object.members.map(\.value) == [3])
        #expect(JSONValue.string(composed) != .string(decomposed))
        let (one, other): (JSONValue, JSONValue) = ([composed: 1], [decomposed: 1])
        #expect(one != other)
        let both: JSONValue = [composed: 1, decomposed: 2]
        let turned: JSONValue = [decomposed: 2, composed: 1]
        #expect(both == turned)
        #expect(both.hashValue == turned.hashValue)
        #expect(both.canonical.serialized == turned.canonical.serialized)
    }

    @Test(
        arguments: [
            "\"a\nb\"": "a\nb", #""\x""#: #"\x"#, #""\'""#: #"\'"#, #""\u12g4\n""#: "\\u12g4\n", "\"a\"\u{0}": "a",
            #""a" trailing"#: "a", #""é\q""#: #"é\q"#,
        ]
    )
    func `an answer that no other reader takes is read as far as it goes`(text: String, value: String) throws {
        let bytes = Array(text.utf8)
        #expect(try bytes.withUnsafeBytes { try JSONValue(mending: $0, forgives: true) } == .string(value))
    }

    @Test(arguments: ["{\"a\":007,\"t\":\"x\",}", "{\"t\":\"x\",\"l\":[1,]}", "{\"b\":\"1\n2\",\"t\":\"x\"}}"])
    func `a fault in one member does not affect the others`(text: String) throws {
        let bytes = Array(text.utf8)
        #expect(try bytes.withUnsafeBytes { try JSONValue(mending: $0, forgives: true) }.object?["t"] == "x")
    }

    @Test(
        arguments: [
            [0xFF], [0xC0, 0xAF], [0xC1, 0x81], [0xE0, 0x80, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xF8, 0x88, 0x80, 0x80, 0x80], [0x80], [0xC3], [0xE2, 0x82],
        ] as [[UInt8]],
        ["", "\\n"]
    )
    func `invalid UTF-8 is refused, with escapes and without`(bytes: [UInt8], escape: String) {
        let text = [UInt8(ascii: "\"")] + Array(escape.utf8) + bytes + [UInt8(ascii: "\"")]
        let error = #expect(throws: JSONError.self) { try text.withUnsafeBytes { try JSONValue(parsing: $0) } }
        #expect(error?.offset == text.count - 1)
        let skipped = #expect(throws: JSONError.self) {
            try text.withUnsafeBytes {
                var reader = JSONReader($0)
                try reader.skipValue()
            }
        }
        #expect(skipped == error)
    }

    /// Every text in a document of every length has its end found, whatever its place among eight bytes.
    @Test func `a text ends at its quote, wherever that is`() throws {
        for length in 0...40 {
            for special in ["", "é", "\u{7F}", #"\""#, #"\\"#, "\u{1}"] {
                for place in 0...length {
                    let content =
                        Array(repeating: "x", count: place).joined() + special
                        + Array(repeating: "y", count: length - place).joined()
                    let text = Array("[\"\(content)\", 1]".utf8)
                    let expected = content.replacing(#"\\"#, with: "\\").replacing(#"\""#, with: "\"")
                    try text.withUnsafeBytes { bytes in
                        var reader = JSONReader(bytes)
                        if special == "\u{1}" {
                            #expect(throws: JSONError.self) { try reader.skipValue() }
                            #expect(throws: JSONError.self) { try JSONValue(parsing: bytes) }
                        } else {
                            try reader.skipValue()
                            #expect(reader.offset == bytes.count)
                            #expect(try JSONValue(parsing: bytes) == [.string(expected), 1])
                        }
                    }
                }
            }
        }
    }

    @Test(.timeLimit(.minutes(1))) func `texts of many combining marks are compared by their bytes`() {
        let one = "a" + String(repeating: "\u{301}\u{316}", count: 1_000_000)
        let other = "a" + String(repeating: "\u{316}\u{301}", count: 1_000_000)
        #expect(JSONValue.string(one) != .string(other))
        #expect(JSONValue.string(one) == .string(one + ""))
    }

    @Test(
        arguments: [
            (#""\"\\\/\b\f\n\r\t""#, "\"\\/\u{8}\u{C}\n\r\t"), (#""\u0041\u00e9\u20AC""#, "Aé€"),
            (#""\ud83D\uDE00""#, "\u{1F600}"),
            (#""a\u0000b""#, "a\u{0}b"), ("\"é\u{1F600}\"", "é\u{1F600}"), (#""\u007f""#, "\u{7F}"),
        ]
    )
    func `escapes are decoded`(text: String, value: String) throws {
        #expect(try JSONValue(parsing: text) == .string(value))
        #expect(try JSONValue(parsing: JSONValue.string(value).serialized) == .string(value))
    }

    @Test(
        arguments: [
            ([], 0), ([0xEF], 0), ([0xEF, 0xBB], 0), ([0xEF, 0xBB, 0xBF], 3), ([0xEF, 0xBB, 0xBF, 0x31], 3),
            ([0x31, 0xEF, 0xBB, 0xBF], 0), ([0xFE, 0xFF, 0x31], 0),
        ] as [([UInt8], Int)]
    )
    func `a document begins behind a byte order mark`(bytes: [UInt8], start: Int) {
        let found = bytes.withUnsafeBytes { JSONReader.start(of: $0) }
        #expect(found == start)
    }

    @Test func `every control character is escaped`() throws {
        for code in UInt8(0)..<0x20 {
            let text = "a\(Unicode.Scalar(code))b"
            let written = JSONValue.string(text).serialized
            #expect(written.utf8.allSatisfy { $0 >= 0x20 })
            #expect(try JSONValue(parsing: written) == .string(text))
        }
    }

    @Test(arguments: [(256, true), (257, false), (100_000, false)])
    func `nesting beyond the limit is refused`(depth: Int, isRead: Bool) {
        for (open, close) in [("[", "]"), ("{\"a\":", "}")] {
            let inner = open == "[" ? "" : "1"
            let text = String(repeating: open, count: depth) + inner + String(repeating: close, count: depth)
            #expect(((try? JSONValue(parsing: text)) != nil) == isRead)
        }
    }

    @Test(
        arguments: [
            (#""a\ud800b""#, "a\u{FFFD}b"), (#""\ud83d\ud83d\ude00""#, "\u{FFFD}\u{1F600}"),
            (#""\udc00\n""#, "\u{FFFD}\n"),
            ("[NaN,Infinity,-Infinity,1]", [nil, nil, nil, 1]), (#"{"\ud800":1}"#, ["\u{FFFD}": 1]),
        ] as [(String, JSONValue)]
    )
    func `repair mends one odd value and leaves the others`(text: String, value: JSONValue) throws {
        #expect(try JSONValue.mended(text) == value)
    }

    @Test(arguments: ["[1", "{\"a\":}", "[1 2]", "nan", "\"\\ud8\"", "{\"a\":1,}", "[]]", "\"a\nb\""])
    func `repair refuses malformed JSON`(text: String) {
        #expect(throws: JSONError.self) { try JSONValue.mended(text) }
        #expect(throws: JSONError.self) { try JSONValue.mended(String(repeating: "[", count: 300) + text) }
    }

    @Test func `for a repeated name the last value counts, and all are kept`() throws {
        let value = try JSONValue(parsing: #"{"a":1,"b":2,"a":3}"#)
        #expect(value.object?["a"] == 3)
        #expect(value.object?.members.count == 3)
        #expect(value.serialized == #"{"a":1,"b":2,"a":3}"#)
    }

    @Test func `objects are equal in any order, lists are not, and numbers are their text`() throws {
        #expect(try JSONValue(parsing: #"{"a":1,"b":[1,2]}"#) == JSONValue(parsing: #"{"b":[1,2],"a":1}"#))
        #expect(try JSONValue(parsing: "[1,2]") != JSONValue(parsing: "[2,1]"))
        #expect(try JSONValue(parsing: "1.0") != JSONValue(parsing: "1"))
        #expect(try JSONValue(parsing: #"{"a":1}"#) != JSONValue(parsing: #"{"a":1,"b":null}"#))
        #expect(
            try JSONValue(parsing: #"{"b":{"d":1,"c":2},"a":1}"#).canonical.serialized == #"{"a":1,"b":{"c":2,"d":1}}"#
        )
    }

    @Test(
        arguments: [
            (1_790_000_000, 1_790_000_000), ("1790000000", 1_790_000_000), ("1790000000.999", 1_790_000_000),
            (.number("1.79e9"), 1_790_000_000), ("-5", -5), ("", nil), ("soon", nil), (nil, nil), (true, nil),
            ([], nil),
            ("nan", nil), ("inf", nil), (.number("1e400"), nil), ("9223372036854775807", nil), (.number("1e16"), nil),
        ] as [(JSONValue, Int64?)]
    )
    func `seconds are read from whole numbers and text within bounds`(value: JSONValue, seconds: Int64?) {
        #expect(value.seconds == seconds)
    }

    @Test(
        arguments: [
            ("3600", 3_600), (.number("1e16"), 8_999_999_999_999_999), ("9223372036854775807", 8_999_999_999_999_999),
            (.number("-1e16"), nil), (.number("1e400"), nil), ("inf", nil),
        ] as [(JSONValue, Int64?)]
    )
    func `a length of time beyond any calendar is the longest there is`(value: JSONValue, seconds: Int64?) {
        #expect(value.duration == seconds.map { .seconds($0) })
    }
}
