/// Why an issuer's metadata cannot be used.
public enum MetadataError: Error, Hashable, CustomStringConvertible {
    /// The address answered with something else.
    case notMetadata(url: String, status: Int)

    /// A field is missing.
    case incomplete(String)

    /// The document is another issuer's.
    case otherIssuer(wanted: String, found: String)

    /// An endpoint is at a host that the authority does not stand for, so nothing is sent there.
    case foreignEndpoint(String)

    public var description: String {
        switch self {
        case .notMetadata(let url, let status):
            "\(url) answered \(status) and no OpenID metadata; check the authority"
        case .incomplete(let field): "the issuer's metadata lacks \(field); check the authority"
        case .otherIssuer(let wanted, let found):
            wanted == found + "/" || found == wanted + "/"
                ? "the issuer names itself \(found), and every letter counts; give its address so"
                : "the metadata of \(wanted) says that it is \(found)'s; check the issuer's address"
        case .foreignEndpoint(let url):
            "the issuer names an endpoint that is not its own, \(url): nothing was sent there; check the authority"
        }
    }
}
