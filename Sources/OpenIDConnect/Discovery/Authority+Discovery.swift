package import OAuth

extension Authority {
    /// Where the metadata is published, the likeliest address first.
    package var metadataURLs: [String] {
        guard let issuer else {
            // AD FS, which MSAL knows by this address, has one version.
            let version = tenant == "adfs" && userFlow == nil ? "" : "/v2.0"
            return ["\(url)\(version)/.well-known/openid-configuration"]
        }
        let base = issuer.hasSuffix("/") ? String(issuer.dropLast()) : issuer
        let path = base.drop { $0 != ":" }.dropFirst(3).drop { $0 != "/" }
        let root = base.dropLast(path.count)
        return ["\(base)/.well-known/openid-configuration", "\(root)/.well-known/oauth-authorization-server\(path)"]
    }

    /// Where a Microsoft issuer publishes its metadata for one app; nil of another issuer, or where the client is none
    /// of Microsoft's.
    package func metadataURL(ofApp clientID: String) -> String? {
        let isPlain = clientID.allSatisfy { $0 == "-" || $0.isASCII && $0.isHexDigit }
        guard issuer == nil, isPlain, !clientID.isEmpty else { return nil }
        return "\(url)/v2.0/.well-known/openid-configuration?appid=\(clientID)"
    }

    /// Refuses metadata of another issuer, and endpoints outside the authority.
    package func check(_ metadata: IssuerMetadata) throws(MetadataError) {
        if let issuer {
            // RFC 8414 §3.3: the two must be identical.
            guard metadata.issuer.hasSameBytes(as: issuer) else {
                throw .otherIssuer(wanted: issuer, found: metadata.issuer)
            }
            for endpoint in metadata.endpoints where !metadata.isBesideIssuer(endpoint) {
                throw .foreignEndpoint(endpoint)
            }
            return
        }
        for endpoint in metadata.endpoints {
            guard let address = WebAddress(secure: endpoint),
                Cloud.group(of: address.name) == Cloud.group(of: environment)
            else { throw .foreignEndpoint(endpoint) }
        }
        guard mayBe(metadata.issuer) else { throw .otherIssuer(wanted: url, found: metadata.issuer) }
    }
}
