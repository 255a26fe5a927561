import NIOCore
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Which certificates are for a host ([RFC 9525 §6](https://www.rfc-editor.org/rfc/rfc9525#section-6)).
///
/// NIOSSL takes a certificate for the address of the socket's other end as well, whatever name was asked for. That
/// address is what a name server answered, or a proxy's own: neither says that the server is the one that is meant.
package struct ServerIdentity: Sendable {
    /// Lower-cased, without the dot of the root at its end.
    private let name: String

    /// The bytes of the address, if the host is written as one.
    private let address: [UInt8]?

    /// Whether the host is written as an IP address, which is for certificates another kind of name.
    var isAddress: Bool { address != nil }

    /// The identity of a host as ``WebAddress`` has it.
    package init(host: String) {
        name = Self.withoutRoot(host.lowercased())
        address = Self.bytes(ofAddress: host)
    }

    /// Whether a certificate with these names of servers and these IP addresses is for the host.
    package func isNamed(in names: [String], addresses: [[UInt8]]) -> Bool {
        if let address { return addresses.contains(address) }
        return names.contains { isMeant(by: Self.withoutRoot($0.lowercased())) }
    }

    /// A star stands for one whole label, the leftmost one.
    private func isMeant(by pattern: String) -> Bool {
        if pattern == name { return true }
        guard pattern.hasPrefix("*."), let dot = name.firstIndex(of: "."), dot > name.startIndex else { return false }
        return pattern.dropFirst() == name[dot...]
    }

    private static func withoutRoot(_ name: String) -> String { name.hasSuffix(".") ? String(name.dropLast()) : name }

    private static func bytes(ofAddress host: String) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, host, &bytes) == 1 { return Array(bytes.prefix(4)) }
        return inet_pton(AF_INET6, host, &bytes) == 1 ? bytes : nil
    }
}

extension ServerIdentity {
    /// A certificate that is trusted, but is not for the host.
    struct Mismatch: Error {
        /// Whether it names any server: of those that name one as their subject alone nothing is taken (RFC 9525 §2).
        let namesServers: Bool
    }

    /// Checks a new connection before a request is sent on it, and ends one to another server.
    func check(_ channel: any Channel) -> EventLoopFuture<Void> {
        channel.eventLoop.makeCompletedFuture {
            do {
                try requireCertificate(of: channel.pipeline.syncOperations)
            } catch {
                channel.close(promise: nil)
                throw error
            }
        }
    }

    private func requireCertificate(of pipeline: ChannelPipeline.SynchronousOperations) throws {
        #if canImport(Network)
        // Without a proxy TLS is the system's, which compares names alone with a name.
        guard (try? pipeline.context(handlerType: NIOSSLClientHandler.self)) != nil else { return }
        #endif
        guard let certificate = try pipeline.nioSSL_peerCertificate() else { throw Mismatch(namesServers: true) }
        try requireName(in: certificate)
    }

    private func requireName(in certificate: NIOSSLCertificate) throws {
        var (names, addresses) = ([String](), [[UInt8]]())
        for name in certificate._subjectAlternativeNames() {
            let bytes = Array(name.contents)
            switch name.nameType {
            // To letters of other alphabets, some of ASCII are the same in lower case.
            case .dnsName where bytes.allSatisfy { $0 < 0x80 }: names.append(String(decoding: bytes, as: UTF8.self))
            case .ipAddress: addresses.append(bytes)
            default: break
            }
        }
        guard !isNamed(in: names, addresses: addresses) else { return }
        throw Mismatch(namesServers: !names.isEmpty || !addresses.isEmpty)
    }
}
