import IssuerSupport
import LocalIdentityProvider
import NativeAuthentication
import OAuth
import SignIn
import Testing
import TokenManagement
import TokenStorage

/// What the patterns of a tenant are matched against here, and what is left to the issuer.
struct AttributePatternTests {
    /// The attributes of a page that asks for a value of each pattern.
    private func attributes(_ patterns: [String], names: [String]? = nil) async throws -> [RequiredAttribute] {
        var attributes: [RequiredAttribute] = []
        try await NativeScene.open { scene in
            let listed = patterns.enumerated().map { index, pattern in
                JSONValue.object(
                    JSONValue.Object([
                        ("name", .string(names?[index] ?? "attribute\(index)")),
                        ("options", .object(JSONValue.Object([("regex", .string(pattern))]))),
                    ])
                )
            }
            let answer = JSONValue.Object([
                ("error", .string("attributes_required")), ("continuation_token", .string("next-token")),
                ("required_attributes", .array(listed)),
            ])
            let state = try await scene.app().signUp(SignUpParameters(username: NativeScene.new)).codeState
            let body = JSONValue.object(answer).serialized
            scene.provider.faults.add(.answer(status: 400, body: body, at: "signup/continue"))
            attributes = try await state.submitCode(scene.code(to: NativeScene.new)).attributesState.attributes
        }
        return attributes
    }

    @Test func `a plain pattern is matched as a whole`() async throws {
        let cases = [
            ("^[A-Za-z ]{2,60}$", "Ecuador", "1"), ("^(red|blue)$", "blue", "green"), ("[0-9]{5}", "12345", "123456"),
            (#"^\d+-\d?$"#, "12-3", "12"), (#"^[^@\s]+@[^@\s]+\.[a-z]{2,}$"#, "a@b.example", "a.b.example"),
            ("^[A-ZÁÉÍÓÚÑ][a-záéíóúñ]*$", "Ñandú", "ñandú"), ("(?:a|b)c*", "bcc", "cc"),
        ]
        let attributes = try await attributes(cases.map(\.0))
        for (attribute, (pattern, right, wrong)) in zip(attributes, cases) {
            #expect(attribute.accepts(right), "\(pattern)")
            #expect(!attribute.accepts(wrong), "\(pattern)")
        }
    }

    @Test func `a pattern that could take long or much memory is left to the issuer`() async throws {
        let patterns = [
            String(repeating: "[", count: 3_000), String(repeating: "(", count: 3_000), "^([a-zA-Z0-9]+)*$", "(a|aa)+",
            String(repeating: "a?", count: 3_000), String(repeating: "a?", count: 40), "(a|aa){20}", "(a?){30}",
            String(repeating: "(a|aa)", count: 25), "a*a*a*a*a*", "a{2147483647}", "a{99999999999999999999}", #"(a)\1"#,
            "(?=a)*", "(?<=a)b", "(?R)", #"\p{L}+"#, "[[:alpha:]]+", "((((((a))))))", "a++", "[a-z", "(a", "a)",
            String(repeating: "a", count: 201),
        ]
        for attribute in try await attributes(patterns) {
            #expect(attribute.accepts(String(repeating: "a", count: 100) + "!"), "\(attribute.regex ?? "")")
        }
    }

    @Test func `a value that is longer than any answer is left to the issuer`() async throws {
        let attribute = try #require(try await attributes(["^[a-z]{1,300}$"]).first)
        #expect(!attribute.accepts(String(repeating: "1", count: 256)))
        #expect(attribute.accepts(String(repeating: "1", count: 257)))
    }

    @Test func `how many quantifiers are matched depends on the length of the value`() async throws {
        let attribute = try #require(try await attributes(["^[a-z]*[a-z]*[a-z]*$"]).first)
        #expect(!attribute.accepts("a1"))
        #expect(attribute.accepts(String(repeating: "a", count: 100) + "1"))
    }

    @Test func `an attribute whose name is longer than any name is not asked for`() async throws {
        let names = ["country", String(repeating: "n", count: 257)]
        let attributes = try await attributes(["", ""], names: names)
        #expect(attributes.map(\.name) == ["country"])
    }
}
