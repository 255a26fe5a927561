package import OAuth

extension Authority {
    /// Where tokens of `account` come from: what was asked for, else its home tenant or its issuer.
    ///
    /// A word such as `common` means the account's home tenant, so that no token is stored under it.
    package init(of account: Account, requested: Authority?) throws {
        guard let requested else {
            self = try Authority.home(of: account)
            return
        }
        guard requested.issuer == nil, requested.isTenantless, let tenant = account.utid else {
            self = requested
            return
        }
        self = requested.replacing(tenant: tenant.lowercased())
    }

    /// The user flow of a tenant whose issuer is `https://HOST/TENANT/v2.0/`; nil for any other issuer.
    private init?(tenantIssuer issuer: String, userFlow: String?) {
        guard let userFlow, let flow = try? Authority(parsing: issuer, userFlow: userFlow), let tenant = flow.tenant,
            ClientInfo.isTenantID(tenant),
            ["", "/"].contains(where: { issuer == "\(flow.scheme)://\(flow.environment)/\(tenant)/v2.0\($0)" })
        else { return nil }
        self = flow
    }

    /// The authority of the account's user flow, its home tenant or, without either, its issuer.
    private static func home(of account: Account) throws -> Authority {
        if account.id.hasIssuer {
            // Without client_info an account of a user flow at a customer's domain is known by its issuer, whose
            // address has the tenant alone.
            let flow = Authority(tenantIssuer: account.id.issuer, userFlow: account.userFlow)
            return try flow ?? Authority(issuer: account.id.issuer)
        }
        let host = homeHost(of: account)
        if let flow = recordedFlow(of: account, at: host) { return flow }
        let base = "\(scheme(of: account, at: host))://\(host)"
        // The tenants that a guest was seen in are not used: deleting a row could send a refresh token elsewhere.
        let tenant = account.utid ?? account.tenantProfiles.first?.tenantID
        if let tenant, let userFlow = account.userFlow {
            return try Authority(parsing: "\(base)/tfp/\(tenant)/\(userFlow)")
        }
        if let tenant, !tenant.isEmpty { return try Authority(parsing: "\(base)/\(tenant)") }
        return try Authority(issuer: account.issuer ?? base)
    }

    /// The host, and its port where it names one, that the account's tokens come from.
    private static func homeHost(of account: Account) -> String {
        let group = account.id.issuer
        // A host that shares accounts with no other names its port, which an imported row may have dropped. One of
        // another group was in a row that came from elsewhere.
        let isOfGroup = Cloud.contains(group) && Cloud.group(of: account.environment).hasSameBytes(as: group)
        return isOfGroup ? account.environment : group
    }

    /// Only a development issuer on loopback is without TLS, and its tokens say so.
    private static func scheme(of account: Account, at host: String) -> String {
        let isOpen = account.issuer?.lowercased().hasPrefix("http://") ?? false
        let isLoopback = HostAndPort(host, usualPort: 443)?.isLoopback ?? false
        return isOpen && isLoopback ? "http" : "https"
    }

    /// The user flow that the recorded issuer names, for an account without a tenant.
    ///
    /// A sign-in by the address of the issuer recorded the flow there alone in an earlier version, and a refresh writes
    /// it into the account beside a tenant that is none.
    private static func recordedFlow(of account: Account, at host: String) -> Authority? {
        guard account.utid == nil, let issuer = account.issuer, let named = try? Authority(issuer: issuer),
            let userFlow = named.userFlow, account.userFlow.map({ $0.folded == userFlow.folded }) ?? true,
            named.environment == host
        else { return nil }
        return named
    }
}
