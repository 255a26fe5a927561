/// How fresh an access token is.
public enum TokenState: String, Sendable {
    case valid
    /// Good, but worth refreshing: its refresh time has passed, or it ends too soon to start something with it.
    case aging
    case expired

    /// The state of a token at a moment; all times are Unix seconds.
    init(expiresOn: Int64, cachedAt: Int64?, refreshOn: Int64?, at now: Int64) {
        if expiresOn <= now {
            self = .expired
        } else if refreshOn.map({ $0 < now }) ?? false
            || !ExpiryBuffer.standard.isBehind(now, cachedAt: cachedAt, expiresOn: expiresOn)
        {
            self = .aging
        } else {
            self = .valid
        }
    }
}
