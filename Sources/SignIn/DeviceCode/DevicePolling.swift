import HTTPTransport
import OAuth
import OpenIDConnect
import TokenStorage

/// How often an issuer is asked whether a person has decided
/// ([RFC 8628 §3.5](https://www.rfc-editor.org/rfc/rfc8628#section-3.5)).
struct DevicePolling {
    /// How long to wait between two requests.
    var interval: Duration

    /// Why the last request brought no word on the decision; nil if it did.
    private(set) var outage: (any Error)?

    /// The longest wait after the network is available again.
    private static let longestBackOff = Duration.seconds(60)

    /// What every `slow_down` adds.
    private static let slowDown = Duration.seconds(5)

    /// Records a response without tokens.
    ///
    /// - Returns: how long to wait for the next one.
    /// - Throws: what ends the sign-in.
    mutating func delay(after failure: any Error) throws -> Duration {
        outage = failure
        switch failure {
        case let error as OAuthError: return try delay(after: error)
        case let error as HTTPTransportError where error.isTransient: return backOff()
        case let error as IssuerUnavailable: return max(backOff(), error.retryAfter ?? .zero)
        // The store has no room for the answer yet, and the person may need a while anyway.
        case let error as TokenStoreError where [.busy, .unreachable].contains(error.code): return interval
        default: throw failure
        }
    }

    private mutating func delay(after error: OAuthError) throws -> Duration {
        switch error.code {
        case .authorizationPending:
            outage = nil
            return prolonged(by: error)
        case .slowDown:
            outage = nil
            interval += Self.slowDown
            return prolonged(by: error)
        case .expiredToken: throw SignInError.codeEnded
        case _ where error.meaning == .transient: return max(backOff(), error.retryAfter ?? .zero)
        default: throw error
        }
    }

    /// The interval, or a longer one this time if the issuer asks for it; at most a minute, as the person is waiting.
    private func prolonged(by error: OAuthError) -> Duration {
        max(interval, min(error.retryAfter ?? .zero, Self.longestBackOff))
    }

    private mutating func backOff() -> Duration {
        interval = max(interval, min(interval * 2, Self.longestBackOff))
        return interval
    }
}
