public import OAuth

/// A web API that is called with access tokens.
public struct WebAPI: Hashable, Sendable {
    /// Where it is; requests go nowhere else.
    public let url: String

    /// What its access tokens have to be granted.
    public let scope: Scope

    public init(url: String, scope: Scope) {
        self.url = url
        self.scope = scope
    }
}
