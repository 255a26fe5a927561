package import OAuth

extension Authority {
    /// Where tokens of `account` come from: what was asked for, else where it signed in.
    ///
    /// A word such as `common` stands for the account's home tenant, so that no token is filed under it.
    package init(of account: Account, requested: Authority?) throws {
        guard let requested else {
            self = try Authority(home: account)
            return
        }
        guard requested.issuer == nil, requested.isTenantless, let tenant = account.utid else {
            self = requested
            return
        }
        self = requested.replacing(tenant: tenant.lowercased())
    }

    private init(home account: Account) throws {
        if account.id.hasIssuer {
            try self.init(issuer: account.id.authority)
            return
        }
        // Only a development issuer on loopback is without TLS, and its tokens say so.
        let scheme = account.issuer?.lowercased().hasPrefix("http://") == true ? "http" : "https"
        // A host that shares accounts with no other names its port, where an imported row may have dropped it.
        let host = Cloud.contains(account.id.authority) ? account.environment : account.id.authority
        let base = "\(scheme)://\(host)"
        let tenant = account.utid ?? account.tenantProfiles.first?.tenantID
        if let tenant, let policy = account.policy {
            try self.init(parsing: "\(base)/tfp/\(tenant)/\(policy)")
        } else if let tenant, !tenant.isEmpty {
            try self.init(parsing: "\(base)/\(tenant)")
        } else {
            try self.init(issuer: account.issuer ?? base)
        }
    }
}
