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
        case .bind(let reason): "cannot listen: \(reason); choose another --port"
        case .seed(let reason): "the seed cannot be used: \(reason); correct the file"
        case .certificate(let reason): "the certificate or key cannot be used: \(reason); give two PEM files to --tls"
        }
    }
}
