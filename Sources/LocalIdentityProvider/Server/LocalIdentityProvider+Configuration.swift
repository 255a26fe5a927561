package import Foundation

extension LocalIdentityProvider {
    package struct Configuration: Sendable {
        /// 0 picks a free port.
        package var port = 0
        /// Loopback addresses only; the first one names the issuers.
        package var hosts = ["127.0.0.1", "::1"]
        package var tls: Certificate?
        /// Nil means ``Seed/standard``.
        package var seed: Seed?
        /// Opens `/admin/…` to whoever sends it as `x-admin-key`.
        package var adminKey: String?
        package var clock = ProviderClock()
        /// For how many seconds a repeat of the newest used refresh token gets the same child; 0 ends the family.
        package var refreshGrace: TimeInterval = 10
        /// How long a request may take to arrive, in seconds of real time.
        package var requestTimeout = 10
        /// RSA keys (PEM) to use before new ones are made, because making one takes a debug build a second.
        package var signingKeys: [String] = []
        /// Where requests are answered; nil means the cooperative pool.
        package var executor: (any TaskExecutor)?

        package init() {}
    }

    /// Two PEM files for TLS.
    package struct Certificate: Sendable {
        package let chain: String
        package let key: String

        package init(chain: String, key: String) {
            self.chain = chain
            self.key = key
        }
    }
}
