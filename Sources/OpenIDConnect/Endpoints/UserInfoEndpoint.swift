package import HTTPTransport
package import OAuth

/// Where an issuer tells the bearer of an access token about its user
/// ([OpenID Connect Core §5.3](https://openid.net/specs/openid-connect-core-1_0.html#UserInfo)).
package struct UserInfoEndpoint: Sendable {
    private let url: String
    private let transport: any HTTPTransport
    private let limits: HTTPLimits

    package init(_ url: String, transport: any HTTPTransport, limits: HTTPLimits = .issuer) {
        self.url = url
        self.transport = transport
        self.limits = limits
    }

    /// What it says of the user with this `sub`, for the access token of `response`; nil where it says nothing that can
    /// be used, or tells of another user (OpenID Connect Core §5.3.2).
    package func claims(of subject: String, by response: TokenResponse) async -> Claims? {
        guard let token = response.accessToken else { return nil }
        let scheme = AccessToken.isDPoP(response.tokenType) ? "DPoP" : "Bearer"
        let headers: HTTPHeaders = ["accept": "application/json", "authorization": "\(scheme) \(token.reveal())"]
        // The sign-in is complete without it.
        guard let answer = try? await transport.send(HTTPRequest("GET", url, headers: headers), limits: limits),
            answer.isSuccess, let members = answer.jsonObject(),
            members["sub"]?.text?.hasSameBytes(as: subject) ?? false
        else { return nil }
        return Claims(members)
    }
}
