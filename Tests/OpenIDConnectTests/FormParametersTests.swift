import OAuth
import OpenIDConnect
import Testing

struct FormParametersTests {
    @Test func `everything but unreserved characters is escaped`() {
        var form = FormParameters()
        form.append("scope", "api://x/A openid")
        form.append("left out", nil as String?)
        form.append("tok+en", Secret("a&b=c%é~._-"))
        #expect(form.encoded.reveal() == "scope=api%3A%2F%2Fx%2FA+openid&tok%2Ben=a%26b%3Dc%25%C3%A9~._-")
    }

    @Test(
        arguments: [
            "M.C5/l +3=", "M.C5%2Fl+%2B3%3D", "M.C5%2fl+%2b3%3d", "%4d.C5/l%20%2B3=", "M.C5%252Fl%2520%25252B3=",
            #"M.C5\/l +3="#, #"\u004d.C5\/l\u0020+3\u003D"#, "M.C5&#x2F;l&#32;&#x2b;3=",
        ]
    )
    func `a secret that the issuer repeats is redacted from its error in any encoding`(echo: String) {
        var form = FormParameters()
        form.append("refresh_token", Secret("M.C5/l +3="))
        var error = OAuthError(code: .init(rawValue: "x\(echo)"), suberror: "y\(echo)")
        error.serverDescription = "The token \(echo)\u{301}, \(echo) has expired."
        error.claims = #"{"token":"\#(echo)"}"#
        error.numbers = [7]
        var redacted = OAuthError(code: .unknown)
        redacted.serverDescription = "The token <redacted>\u{301}, <redacted> has expired."
        redacted.claims = #"{"token":"<redacted>"}"#
        redacted.numbers = [7]
        #expect(form.redacting(error) == redacted)
        #expect(form.redacting(form.encoded.reveal()) == "refresh_token=<redacted>")
    }

    @Test(
        arguments: [
            "50%off Grüße!", "50%25off%20Gr%C3%BC%C3%9Fe%21", "50%2525off%2520Gr%25C3%25BC%C3%9Fe!",
            #"50%off Gr\u00fc\u00DFe!"#, "50%off Gr&#252;&#xDF;e!",
        ]
    )
    func `a percent sign and letters of other alphabets are redacted in any encoding`(echo: String) {
        var form = FormParameters()
        form.append("password", Secret("50%off Grüße!"))
        #expect(form.redacting("no '\(echo)' here") == "no '<redacted>' here")
    }

    @Test(arguments: ["a", "\\", "%25", "&amp;"])
    func `a text that takes too long to compare with a secret is left out`(part: String) {
        var form = FormParameters()
        form.append("refresh_token", Secret(String(repeating: part, count: 2_000) + "x"))
        let text = String(repeating: String(repeating: part, count: 1_999) + "b", count: 400)
        #expect(form.redacting(text) == "<redacted>")
        var error = OAuthError(code: .invalidGrant, suberror: text)
        error.serverDescription = text
        error.claims = text
        #expect(form.redacting(error) == OAuthError(code: .invalidGrant))
    }

    @Test func `of a long text the beginning is kept, and a secret at its end is redacted whole`() {
        var form = FormParameters()
        form.append("code", Secret("first+secret"))
        form.append("refresh_token", Secret("second/secret"))
        let filler = String(repeating: "é ", count: 1_364)
        for echo in ["second/secret", "second%2Fsecret", "second&#x2F;secret", #"second\/secret"#] {
            #expect(form.redacting(filler + echo + filler) == filler + "<redacted>", "\(echo)")
        }
        let long = String(repeating: "é", count: 3_000)
        #expect(form.redacting("x" + long) == "x" + String(long.prefix(2_048)))
        var error = OAuthError(code: .invalidGrant)
        error.claims = filler + filler
        #expect(form.redacting(error) == error)
    }

    @Test(arguments: [#"a\"b\\c"#, "a&quot;b&#92;c", #"a\u0022b\u005Cc"#, #"a"b\c"#])
    func `a password that a page or a document repeats is redacted`(echo: String) {
        var form = FormParameters()
        form.append("password", Secret(#"a"b\c"#))
        #expect(form.redacting("no '\(echo)' here") == "no '<redacted>' here")
    }

    @Test func `a secret is redacted from error codes, and a longer word that starts alike stays`() {
        var form = FormParameters()
        form.append("code", Secret("0.AX-9_z"))
        let error = OAuthError(code: .init(rawValue: "no_0.AX-9_z"), suberror: "0.AX-9_z")
        #expect(form.redacting(error) == OAuthError(code: .unknown))
        let other = OAuthError(code: .init(rawValue: "0.AX-9"), suberror: "bad_token", serverDescription: "0.AX-9_%7")
        #expect(form.redacting(other) == other)
    }

    @Test func `a short secret inside a plain word leaves the word as it is`() {
        var form = FormParameters()
        form.append("password", Secret("password"))
        let weak = OAuthError(code: .invalidGrant, suberror: "password_too_weak")
        #expect(form.redacting(weak) == weak)
        #expect(form.redacting(OAuthError(code: .invalidGrant, suberror: "password")).suberror == nil)
    }

    @Test(arguments: ["password", "the", "Kennwort", "heslo\u{301}"])
    func `a sentence with a password that is a word of it is left out, not garbled`(password: String) {
        var form = FormParameters()
        form.append("password", Secret(password))
        var error = OAuthError(code: .invalidGrant, suberror: "password_too_weak")
        error.serverDescription = "AADSTS1: the new password or Kennwort is too weak, heslo\u{301}."
        error.numbers = [1]
        let shown = form.redacting(error)
        #expect(shown.serverDescription == nil)
        #expect(shown.suberror == "password_too_weak")
        #expect(shown.numbers == [1])
        error.serverDescription = "It has been used before."
        #expect(form.redacting(error) == error)
    }

    @Test func `the claims of a refusal are shown without what an earlier form sent`() {
        var form = FormParameters()
        form.conceal([Secret("planted-earlier")])
        var error = OAuthError(code: .invalidRequest, status: 400)
        error.claims = #"{"x":"planted-earlier"}"#
        #expect(form.redacting(error).claims == #"{"x":"<redacted>"}"#)
    }
}
