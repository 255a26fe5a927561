import HTTPTransport
import Testing

/// Which certificates are for a host (RFC 9525 §6).
struct ServerIdentityTests {
    @Test(
        arguments: [
            ("issuer.test", "issuer.test", true), ("issuer.test", "ISSUER.test.", true),
            ("issuer.test.", "issuer.test", true), ("issuer.test", "*.test", true),
            ("a.issuer.test", "*.issuer.test", true), ("a.issuer.test", "*.test", false),
            ("issuer.test", "*.issuer.test", false), ("issuer.test", "i*.test", false), ("issuer.test", "*", false),
            ("localhost", "*", false), (".test", "*.test", false), ("issuer.test", "other.test", false),
            ("issuer.test", "issuer.test\0.other", false), ("192.0.2.1", "192.0.2.1", false),
            ("192.0.2.1", "*.0.2.1", false),
        ]
    )
    func `a name of a certificate is for that host, and a star for one label`(host: String, name: String, fits: Bool) {
        #expect(ServerIdentity(host: host).isNamed(in: [name], addresses: []) == fits)
    }

    @Test func `an address of a certificate is for a host that is written as that address`() {
        let loopback: [UInt8] = [127, 0, 0, 1]
        let long = [UInt8](repeating: 0, count: 15) + [1]
        for (host, address, fits) in [
            ("127.0.0.1", loopback, true), ("::1", long, true), ("127.0.0.2", loopback, false),
            ("::1", loopback, false), ("localhost", loopback, false), ("issuer.test", loopback, false),
        ] {
            #expect(ServerIdentity(host: host).isNamed(in: [], addresses: [address]) == fits, "\(host)")
        }
    }
}
