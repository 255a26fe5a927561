/// Microsoft's sign-in hosts: which of them share accounts, and which belong to Azure AD B2C or External ID.
public enum Cloud {
    /// Hosts of one cloud, the one that names the group first.
    private static let groups = [
        ["login.windows.net", "login.microsoftonline.com", "login.microsoft.com", "sts.windows.net"],
        ["login.partner.microsoftonline.cn", "login.chinacloudapi.cn"],
        ["login.microsoftonline.de"],
        ["login.microsoftonline.us", "login.usgovcloudapi.net"],
        ["login-us.microsoftonline.com"],
    ]

    private static let groupOfHost = Dictionary(
        uniqueKeysWithValues: groups.flatMap { hosts in hosts.map { ($0, hosts[0]) } }
    )

    private static let b2cSuffixes = [".b2clogin.com", ".b2clogin.cn", ".b2clogin.us", ".b2clogin.de"]

    /// The name under which hosts that share accounts are stored; a host outside the table is its own group.
    public static func group(of host: String) -> String {
        let host = host.folded
        return groupOfHost[host] ?? host
    }

    /// Whether `host` signs in Microsoft accounts: a host of the table, or of Azure AD B2C or External ID.
    public static func contains(_ host: String) -> Bool {
        let host = host.folded
        return groupOfHost[host] != nil || isB2C(host) || isExternalID(host)
    }

    /// Whether `host` signs in people of several tenants: a host of the table, as those of B2C and External ID have one.
    package static func hasTenants(_ host: String) -> Bool { groupOfHost[host.folded] != nil }

    public static func isB2C(_ host: String) -> Bool {
        let host = host.folded
        return b2cSuffixes.contains { host.hasSuffix($0) }
    }

    public static func isExternalID(_ host: String) -> Bool { host.folded.hasSuffix(".ciamlogin.com") }
}
