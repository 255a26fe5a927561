import HTTPTransport
import OAuth
import OpenIDConnect

/// How often an issuer is asked whether a person has decided
/// ([RFC 8628 §3.5](https://www.rfc-editor.org/rfc/rfc8628#section-3.5)).
struct DevicePolling {
    /// Seconds between two requests.
    var interval: Int64

    /// The longest wait after the network is available again.
    private static let longestBackOff: Int64 = 60

    /// What every `slow_down` adds.
    private static let slowDown: Int64 = 5

    /// Records a response without tokens.
    ///
    /// - Returns: seconds until the next one.
    /// - Throws: what ends the sign-in.
    mutating func delay(after failure: any Error) throws -> Int64 {
        switch failure {
        case let error as OAuthError: return try delay(after: error)
        case let error as HTTPTransportError where error.isTransient: return backOff()
        case let error as IssuerUnavailable: return max(backOff(), error.retryAfter ?? 0)
        default: throw failure
        }
    }

    private mutating func delay(after error: OAuthError) throws -> Int64 {
        switch error.code {
        case .authorizationPending: return prolonged(by: error)
        case .slowDown:
            interval += Self.slowDown
            return prolonged(by: error)
        case .serverError, .temporarilyUnavailable: return max(backOff(), error.retryAfter ?? 0)
        case .expiredToken: throw SignInError.timedOut
        default: throw error
        }
    }

    /// The interval, or this once longer where the issuer says so; its person is waiting meanwhile.
    private func prolonged(by error: OAuthError) -> Int64 {
        max(interval, min(error.retryAfter ?? 0, Self.longestBackOff))
    }

    private mutating func backOff() -> Int64 {
        interval = max(interval, min(interval * 2, Self.longestBackOff))
        return interval
    }
}
