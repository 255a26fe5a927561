public import HTTPTransport
public import OAuth

/// The issuer cannot serve now: it answered 429 or 5xx, said so in an error, or asked to be left alone for a while.
public struct IssuerUnavailable: Error, Hashable, Sendable {
    public let status: Int

    /// Seconds until the next attempt is welcome, where the issuer says so.
    public let retryAfter: Int64?

    /// What the issuer called it, where it did.
    public let error: OAuthError.Code?

    public init(status: Int, retryAfter: Int64? = nil, error: OAuthError.Code? = nil) {
        self.status = status
        self.retryAfter = retryAfter
        self.error = error
    }

    /// Reads an answer.
    public init(_ response: HTTPResponse, now: Int64? = nil) {
        self.init(status: response.status, retryAfter: response.retryAfter(now: now))
    }
}

extension HTTPResponse {
    /// What `Retry-After` says, in seconds; a date counts from the issuer's own clock.
    func retryAfter(now: Int64?) -> Int64? {
        guard let value = headers["retry-after"] else { return nil }
        if let seconds = Int64(value) { return seconds }
        guard let date = HTTPDate.seconds(value) else { return nil }
        let issuerNow = headers["date"].flatMap(HTTPDate.seconds) ?? now
        return issuerNow.map { date - $0 }
    }
}

extension IssuerUnavailable: CustomStringConvertible {
    public var description: String {
        let wait = retryAfter.map { "in \($0) s" } ?? "in a minute"
        return status == 429
            ? "the issuer was asked too often; try again \(wait)"
            : "the issuer answered \(error?.rawValue ?? "\(status)"); try again \(wait)"
    }
}
