/// How the issuer hands the answer to the browser, which brings it back.
public enum ResponseMode: String, Sendable, CaseIterable {
    /// In the address ([RFC 6749 §4.1.2](https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2)).
    case query

    /// In a form that the browser posts, so that the code is in no address
    /// ([Form Post Response Mode](https://openid.net/specs/oauth-v2-form-post-response-mode-1_0.html)).
    case formPost = "form_post"
}
