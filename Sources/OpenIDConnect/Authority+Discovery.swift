import HTTPTransport
package import OAuth

extension Authority {
    /// Where the metadata is published, the likeliest address first.
    package var metadataURLs: [String] {
        guard let issuer else { return ["\(url)/v2.0/.well-known/openid-configuration"] }
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let path = base.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }
        let root = base.dropLast(path.count)
        return ["\(base)/.well-known/openid-configuration", "\(root)/.well-known/oauth-authorization-server\(path)"]
    }

    /// Refuses metadata of another issuer, and endpoints that the authority does not stand for.
    package func check(_ metadata: IssuerMetadata) throws(MetadataError) {
        guard issuer == nil else {
            // RFC 8414 §3.3: the two must be identical.
            guard metadata.issuer == issuer else {
                throw .otherIssuer(wanted: issuer ?? "", found: metadata.issuer)
            }
            let isLoopback = HTTPAddress(metadata.issuer)?.isLoopback ?? false
            for endpoint in metadata.endpoints {
                guard let address = HTTPAddress(endpoint), address.isLoopback == isLoopback else {
                    throw .foreignEndpoint(endpoint)
                }
            }
            return
        }
        for endpoint in metadata.endpoints {
            guard let address = HTTPAddress(endpoint),
                Cloud.group(of: address.name) == Cloud.group(of: environment)
            else { throw .foreignEndpoint(endpoint) }
        }
    }
}
