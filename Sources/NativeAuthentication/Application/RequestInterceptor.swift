/// Adds headers to the requests of native authentication (MSAL's `MSALNativeAuthRequestInterceptor`).
public protocol RequestInterceptor: Sendable {
    /// The headers to add to a request to `url`.
    ///
    /// Names begin with `x-`, and not with `x-ms-`, `x-client-`, `x-broker-` or `x-app-`; others are left out with a
    /// warning in the log.
    func headers(for url: String) async -> [String: String]
}
