package import Foundation
import NIOCore
import OAuth
import Synchronization

/// An OAuth 2.0 and OpenID Connect issuer on loopback, for trying things and for tests.
///
/// It signs, checks and expires for real and keeps everything in memory: a restart forgets. Start one, give its
/// ``baseURL`` to the client under test, steer it through ``outbox``, ``clock``, ``faults`` and ``audit``, and
/// ``stop()`` it.
package final class LocalIdentityProvider: Sendable {
    /// `http://127.0.0.1:PORT` or its `https` form, which every issuer begins with.
    package var baseURL: String { state.baseURL }
    /// The same server at each address it listens on.
    package let addresses: [String]

    private let state: ProviderState
    private let listeners: [Listener]

    package var outbox: Outbox { state.outbox }
    package var clock: ProviderClock { state.clock }
    package var faults: Faults { state.faults }
    package var audit: AuditLog { state.audit }
    package var proofs: DPoPProofs { state.proofs }

    private init(addresses: [String], state: ProviderState, listeners: [Listener]) {
        self.addresses = addresses
        self.state = state
        self.listeners = listeners
    }

    /// Listens and answers until ``stop()``.
    ///
    /// - Throws: ``StartError``.
    package static func start(_ configuration: Configuration = Configuration()) async throws -> LocalIdentityProvider {
        let hosts = configuration.hosts.isEmpty ? ["an empty list"] : configuration.hosts
        if let host = hosts.first(where: { $0 != "127.0.0.1" && $0 != "::1" }) { throw StartError.address(host) }
        let gateway = Gateway()
        let listeners = try await listeners(configuration, gateway)
        let scheme = configuration.tls == nil ? "http" : "https"
        let addresses = listeners.map { $0.address(scheme) }
        do {
            let state = try ProviderState(configuration, baseURL: addresses[0])
            gateway.state.withLock { $0 = state }
            return LocalIdentityProvider(addresses: addresses, state: state, listeners: listeners)
        } catch {
            for listener in listeners { await listener.stop() }
            throw error
        }
    }

    /// One listener an address, all at one port.
    private static func listeners(_ configuration: Configuration, _ gateway: Gateway) async throws -> [Listener] {
        var tries = configuration.port == 0 ? 5 : 1
        while true {
            var listeners: [Listener] = []
            do {
                for host in configuration.hosts {
                    let port = listeners.first?.port ?? configuration.port
                    do {
                        listeners.append(try await Listener(host, port: port, configuration, gateway))
                    } catch let error as IOError where error.isMissingFamily && !listeners.isEmpty {
                        continue
                    }
                }
                return listeners
            } catch {
                for listener in listeners { await listener.stop() }
                tries -= 1
                // A port that was free on one family may be taken on the other; another one is as good.
                guard let failure = error as? IOError else { throw error }
                guard failure.errnoCode == EADDRINUSE, tries > 0 else {
                    throw StartError.bind("port \(configuration.port), \(String(cString: strerror(failure.errnoCode)))")
                }
            }
        }
    }

    /// Makes an issuer sign with its next key; the old one stays in the key set for a day.
    package func rotateKeys(tenant: String, policy: String? = nil) async throws {
        try await state.keys.rotate(state.realm(tenant: tenant, policy: policy))
    }

    /// Ends every connection and frees the port.
    package func stop() async {
        for listener in listeners { await listener.stop() }
    }
}

extension Listener {
    /// The default port of the scheme is left out, as is usual.
    fileprivate func address(_ scheme: String) -> String {
        let place = "\(scheme)://\(host.contains(":") ? "[\(host)]" : host)"
        return port == (scheme == "https" ? 443 : 80) ? place : "\(place):\(port)"
    }
}

extension IOError {
    /// A machine without IPv6 still serves IPv4.
    fileprivate var isMissingFamily: Bool { [EADDRNOTAVAIL, EAFNOSUPPORT].contains(errnoCode) }
}

extension LocalIdentityProvider {
    package struct Configuration: Sendable {
        /// 0 picks a free port.
        package var port = 0
        /// Loopback addresses only; the first one names the issuers.
        package var hosts = ["127.0.0.1", "::1"]
        package var tls: Certificate?
        /// Nil means ``Seed/standard``.
        package var seed: Seed?
        /// Enables `/admin/…` for requests with this `x-admin-key`.
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

/// Why the provider did not start, for the person who started it.
package enum StartError: Error, Hashable, CustomStringConvertible {
    case address(String)
    case bind(String)
    case seed(String)
    case certificate(String)

    package var description: String {
        switch self {
        case .address(let host):
            "\(host) is not a loopback address; this is a development provider, bind it to 127.0.0.1 or ::1"
        case .bind(let reason): "cannot listen at \(reason); choose another --port, such as 0 for any free one"
        case .seed(let reason): "the seed cannot be used: \(reason); correct the file"
        case .certificate(let reason): "the certificate or key cannot be used: \(reason); give two PEM files to --tls"
        }
    }
}
