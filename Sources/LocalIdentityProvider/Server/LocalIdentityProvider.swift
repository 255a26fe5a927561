import Foundation
import Hummingbird
import HummingbirdTLS
import Logging
import NIOCore
import NIOSSL

/// An OAuth 2.0 and OpenID Connect issuer on loopback, for trying things and for tests.
///
/// It signs, checks and expires for real and keeps everything in memory: a restart forgets. Start one, give its
/// ``baseURL`` to the client under test, steer it through ``outbox``, ``clock``, ``faults`` and ``audit``, and
/// ``stop()`` it.
package final class LocalIdentityProvider: Sendable {
    /// `http://127.0.0.1:PORT` or its `https` form, which every issuer begins with.
    package let baseURL: String
    /// The same server at each address it listens on.
    package let addresses: [String]

    private let state: ProviderState
    private let listeners: [Listener]

    package var outbox: Outbox { state.outbox }
    package var clock: ProviderClock { state.clock }
    package var faults: Faults { state.faults }
    package var audit: AuditLog { state.audit }

    private init(baseURL: String, addresses: [String], state: ProviderState, listeners: [Listener]) {
        self.baseURL = baseURL
        self.addresses = addresses
        self.state = state
        self.listeners = listeners
    }

    /// Listens and answers until ``stop()``.
    ///
    /// - Throws: ``StartError``.
    package static func start(_ configuration: Configuration = Configuration()) async throws -> LocalIdentityProvider {
        for host in configuration.hosts where host != "127.0.0.1" && host != "::1" {
            throw StartError.address(host)
        }
        let scheme = configuration.tls == nil ? "http" : "https"
        var listeners: [Listener] = []
        var port = configuration.port
        let late = LateState()
        do {
            for host in configuration.hosts {
                let listener = try await Listener.start(host, port: port, configuration, late)
                listeners.append(listener)
                port = listener.port
            }
            let addresses = configuration.hosts.map { "\(scheme)://\($0.contains(":") ? "[\($0)]" : $0):\(port)" }
            guard let baseURL = addresses.first else { throw StartError.address("an empty list") }
            let state = try ProviderState(configuration, baseURL: baseURL)
            late.set(state)
            return LocalIdentityProvider(baseURL: baseURL, addresses: addresses, state: state, listeners: listeners)
        } catch {
            for listener in listeners { await listener.stop() }
            throw error
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
