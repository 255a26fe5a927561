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

    /// Refuses metadata of another issuer, and endpoints outside the authority.
    package func check(_ metadata: IssuerMetadata) throws(MetadataError) {
        if let issuer {
            // RFC 8414 §3.3: the two must be identical.
            guard metadata.issuer.isExactly(issuer) else {
                throw .otherIssuer(wanted: issuer, found: metadata.issuer)
            }
            let isLoopback = WebAddress(secure: metadata.issuer)?.isLoopback ?? false
            for endpoint in metadata.endpoints {
                guard let address = WebAddress(secure: endpoint), address.isLoopback == isLoopback else {
                    throw .foreignEndpoint(endpoint)
                }
            }
            return
        }
        for endpoint in metadata.endpoints {
            guard let address = WebAddress(secure: endpoint),
                Cloud.group(of: address.name) == Cloud.group(of: environment)
            else { throw .foreignEndpoint(endpoint) }
        }
        guard isOwn(metadata.issuer) else { throw .otherIssuer(wanted: url, found: metadata.issuer) }
    }

    /// Whether the issuer that metadata names is this authority's own, a Microsoft tenant or user flow.
    ///
    /// Its address is not the authority's: it has the tenant's id where that may have a domain or a word, and where the
    /// authority is for every tenant it has `{tenantid}`.
    private func isOwn(_ named: String) -> Bool {
        guard let address = WebAddress(secure: named) else { return false }
        let start = named.firstRange(of: "://")?.upperBound ?? named.startIndex
        var path = named[start...].split(separator: "/").dropFirst().map { $0.lowercased() }
        let isUserFlow = path.first == "tfp"
        if isUserFlow { path.removeFirst() }
        guard let tenantID = path.first, isHost(address, of: tenantID) else { return false }
        if isUserFlow { guard path.count > 1, path[1] == userFlow else { return false } }
        if tenantID == "{tenantid}" { return isTenantless }
        guard let tenant, ClientInfo.isTenantID(tenant), ClientInfo.isTenantID(tenantID) else { return true }
        return tenant == tenantID
    }

    /// Whether `address` is at a host of this authority's issuer: its own host, or for External ID, which apps may
    /// reach by another name, the host that the tenant's id names.
    private func isHost(_ address: WebAddress, of tenantID: String) -> Bool {
        if Cloud.group(of: address.name) == Cloud.group(of: environment) { return true }
        let mayBeExternalID = Cloud.isExternalID(environment) || !Cloud.contains(environment)
        return mayBeExternalID && ClientInfo.isTenantID(tenantID) && address.name == "\(tenantID).ciamlogin.com"
    }
}
