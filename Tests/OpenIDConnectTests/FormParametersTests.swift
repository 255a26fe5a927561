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
}
