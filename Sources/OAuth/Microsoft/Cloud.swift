/// Microsoft's sign-in hosts: which of them share accounts, and which belong to Azure AD B2C or External ID.
package enum Cloud {
    /// Hosts of one cloud, the one that names the group first.
    private static let groups = [
        ["login.windows.net", "login.microsoftonline.com", "login.microsoft.com", "sts.windows.net"],
        ["login.partner.microsoftonline.cn", "login.chinacloudapi.cn"],
        ["login.microsoftonline.de"],
        ["login.microsoftonline.us", "login.usgovcloudapi.net"],
        ["login-us.microsoftonline.com"],
        ["login.sovcloud-identity.fr"],
        ["login.sovcloud-identity.de"],
        ["login.sovcloud-identity.sg"],
        ["login.windows-ppe.net", "sts.windows-ppe.net", "login.microsoft-ppe.com"],
    ]

    private static let groupOfHost = Dictionary(
        uniqueKeysWithValues: groups.flatMap { hosts in hosts.map { ($0, hosts[0]) } }
    )

    private static let b2cSuffixes = [".b2clogin.com", ".b2clogin.cn", ".b2clogin.us", ".b2clogin.de"]

    /// The name under which hosts that share accounts are stored; a host outside the table is its own group.
    package static func group(of host: String) -> String {
        let host = host.folded
        return knownGroup(of: host) ?? host
    }

    /// The hosts that share accounts with `host`, and it.
    package static func hosts(with host: String) -> [String] {
        let group = group(of: host)
        return groups.first { $0[0].hasSameBytes(as: group) } ?? [group]
    }

    /// Whether `host` signs in Microsoft accounts: a host of the table, or of Azure AD B2C or External ID.
    package static func contains(_ host: String) -> Bool {
        let host = host.folded
        return knownGroup(of: host) != nil || isB2C(host) || isExternalID(host)
    }

    /// Whether `host` signs in people of several tenants: a host of the table, as those of B2C and External ID have
    /// one.
    package static func hasTenants(_ host: String) -> Bool {
        // Nearly every stored account has this name; a look into the table costs twenty times as much.
        host.hasSameBytes(as: groups[0][0]) || knownGroup(of: host.folded) != nil
    }

    private static func knownGroup(of host: String) -> String? { mayBeHost(host) ? groupOfHost[host] : nil }

    /// Whether it is as short as a host: to hash or to compare longer texts may take quadratic time.
    private static func mayBeHost(_ text: String) -> Bool { text.utf8.count <= 253 }

    package static func isB2C(_ host: String) -> Bool {
        let host = host.folded
        return mayBeHost(host) && b2cSuffixes.contains { host.hasSuffix($0) }
    }

    package static func isExternalID(_ host: String) -> Bool {
        let host = host.folded
        return mayBeHost(host) && host.hasSuffix(".ciamlogin.com")
    }
}

/// Who signed in, as Microsoft's token endpoint says beside the tokens when asked with `client_info=1`.
package struct ClientInfo: Hashable, Sendable {
    /// The user's id in the home tenant; for Azure AD B2C with the user flow behind it.
    package let uid: String

    /// The home tenant.
    package let utid: String

    /// The text it was read from.
    package let rawValue: String

    /// The user's id as it was sent, where the user flow is behind it only because that was asked.
    package private(set) var sentUID: String?

    /// Decodes base64url JSON; nil if it is not that, or names no user or tenant.
    package init?(decoding text: String) {
        guard let bytes = Base64URL.decode(text.utf8),
            // Not decodable counts as not sent: the ID token says who it is as well.
            let payload = try? JSONValue(parsing: String(decoding: bytes, as: UTF8.self)).object,
            let uid = payload["uid"]?.text, !uid.isEmpty, let utid = payload["utid"]?.text, !utid.isEmpty,
            !uid.hasControlCharacters, !utid.hasControlCharacters
        else { return nil }
        self.uid = uid
        self.utid = utid
        rawValue = text
    }

    /// What the answer to `request` says, where that counts: at authorities that are asked for it, as Microsoft's are.
    ///
    /// Nothing signs it. A host that is not known to be Microsoft's may be that of many issuers, so that the issuer of
    /// the ID token has to name the tenant.
    package init?(_ response: TokenResponse, to request: TokenRequest, claims: Claims?) {
        guard request.authority.issuer == nil, let sent = response.clientInfo.flatMap(ClientInfo.init(decoding:)),
            let info = sent.naming(claims?.objectID ?? claims?.userID)?.at(request.authority.userFlow),
            Self.isBacked(utid: info.utid, by: claims, at: request.authority.environment)
        else { return nil }
        self = info
    }

    private init(uid: String, utid: String, rawValue: String) {
        (self.uid, self.utid, self.rawValue) = (uid, utid, rawValue)
    }

    /// The same with `user` before a user flow that stands alone; nil where no user is named.
    ///
    /// Azure AD B2C leaves the user out, as in `-b2c_1a_signin`, where a custom policy has no object id: all who sign
    /// in there would be one account.
    private func naming(_ user: String?) -> ClientInfo? {
        guard Self.isUserFlowAlone(uid) else { return self }
        guard let user, !user.isEmpty else { return nil }
        return ClientInfo(uid: user + uid, utid: utid, rawValue: rawValue)
    }

    /// The same of a user flow that was asked, where the user's id names none: each has accounts of its own.
    private func at(_ userFlow: String?) -> ClientInfo {
        guard let name = Self.name(of: uid, at: userFlow) else { return self }
        var info = ClientInfo(uid: name, utid: utid, rawValue: rawValue)
        info.sentUID = uid
        return info
    }

    /// The id of a user at a user flow of Azure AD B2C; nil where `uid` names one already, or the flow is none of its.
    static func name(of uid: String, at userFlow: String?) -> String? {
        guard let userFlow = userFlow?.folded, userFlow.utf8.starts(with: "b2c_1".utf8),
            Self.userFlow(ofUID: uid) == nil
        else { return nil }
        return "\(uid)-\(userFlow)"
    }

    /// The user flow behind the id of `user`, where it is one that ``name(of:at:)`` gave and can stand in an address.
    package static func userFlow(behind user: String?, in id: String) -> String? {
        guard let user, let userFlow = userFlow(ofUID: id), "\(user)-\(userFlow)".folded.hasSameBytes(as: id.folded),
            userFlow.utf8.allSatisfy(Claims.isOfAName)
        else { return nil }
        return userFlow
    }

    /// An id without the user flow behind it.
    package static func person(_ id: String) -> String {
        guard let userFlow = userFlow(ofUID: id) else { return id }
        return String(decoding: id.utf8.prefix(max(0, id.utf8.count - userFlow.utf8.count - 1)), as: UTF8.self)
    }

    /// Whether a user's id names a user flow and no user.
    package static func isUserFlowAlone(_ uid: String) -> Bool { uid.folded.utf8.starts(with: "-b2c_1".utf8) }

    /// Whether the host is Microsoft's, or the issuer that an ID token comes from has the tenant in its path.
    static func isBacked(utid: String, by claims: Claims?, at host: String) -> Bool {
        guard !Cloud.contains(host), let issuer = claims?.issuer else { return true }
        return issuer.parts(separatedBy: "/").contains { $0.lowercased().hasSameBytes(as: utid.folded) }
    }

    /// Whether the ID token, which its issuer vouches for, names another user of the same tenant.
    ///
    /// Of a guest it names another tenant, and another id in it.
    package func isContradicted(by claims: Claims?) -> Bool {
        guard let claims, let object = claims.objectID?.folded else { return false }
        if let tenant = claims.tenantID?.folded, !tenant.hasSameBytes(as: utid.folded) { return false }
        return !uid.folded.hasSameBytes(as: object) && !uid.folded.utf8.starts(with: "\(object)-".utf8)
    }

    /// The Azure AD B2C user flow behind a user's id, such as `b2c_1_signin` of `GUID-b2c_1_signin`.
    static func userFlow(ofUID uid: String) -> String? {
        var uid = uid.folded
        // Over the bytes, as each sign-in asks this: a search for characters costs 50 times as much.
        return uid.withUTF8 { bytes in
            let mark = "-b2c_1".utf8
            let start = bytes.indices.first { bytes[$0] == mark.first && bytes[$0...].starts(with: mark) }
            return start.map { String(decoding: bytes[($0 + 1)...], as: UTF8.self) }
        }
    }

    /// The parts of an id, which is split at its last dot.
    package static func parts(of homeAccountID: String) -> (uid: String, utid: String)? {
        guard let dot = homeAccountID.utf8.lastIndex(of: UInt8(ascii: ".")), let utid = tenant(of: homeAccountID)
        else { return nil }
        return (String(homeAccountID[..<dot]), utid)
    }

    /// The tenant of an id; over the bytes, as each lookup asks this.
    ///
    /// MSAL for Java puts the user flow behind the tenant as well: `GUID-b2c_1_signin.GUID-B2C_1_SignIn`.
    package static func tenant(of homeAccountID: String) -> String? {
        var text = homeAccountID
        let end = text.withUTF8 { bytes in
            bytes.lastIndex(of: UInt8(ascii: ".")).map { String(decoding: bytes[($0 + 1)...], as: UTF8.self) }
        }
        guard let tenant = end, tenant.utf8.count > 36 else { return end }
        let (id, rest) = (tenant.prefix(36), tenant.dropFirst(36))
        return isTenantID(id) && rest.lowercased().utf8.starts(with: "-b2c_1".utf8) ? String(id) : tenant
    }

    /// Whether an id has the shape `uid.utid` with a GUID for the tenant, which no other provider's `sub` has.
    package static func isShaped(_ homeAccountID: String) -> Bool {
        parts(of: homeAccountID).map { !$0.uid.isEmpty && isTenantID($0.utid) } ?? false
    }

    /// Whether the account with this id is a person's own, of no organisation: all of those are in one tenant.
    static func isPersonal(_ homeAccountID: String) -> Bool {
        tenant(of: homeAccountID)?.folded.hasSameBytes(as: "9188040d-6c67-4c5b-b112-36a304b66dad") ?? false
    }

    /// Whether a tenant is named by its GUID, rather than by a domain or by a word such as `common`.
    package static func isTenantID(_ tenant: some StringProtocol) -> Bool { tenant.isGUID }

    package var homeAccountID: String { "\(uid).\(utid)" }
}
