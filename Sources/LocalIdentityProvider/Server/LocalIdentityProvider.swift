import Foundation
import NIOCore
import OAuth

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
                guard failure.errnoCode == EADDRINUSE, tries > 0 else { throw StartError.bind("\(failure)") }
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
    /// The scheme's own port is left out, as everybody else does.
    fileprivate func address(_ scheme: String) -> String {
        let place = "\(scheme)://\(host.contains(":") ? "[\(host)]" : host)"
        return port == (scheme == "https" ? 443 : 80) ? place : "\(place):\(port)"
    }
}

extension IOError {
    /// A machine without IPv6 still serves IPv4.
    fileprivate var isMissingFamily: Bool { [EADDRNOTAVAIL, EAFNOSUPPORT].contains(errnoCode) }
}
