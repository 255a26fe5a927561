/// Who is asked for tokens: a Microsoft tenant, an Azure AD B2C user flow, or any OpenID issuer.
public struct Authority: Hashable, Sendable {
    /// The host, lower-cased, with its port unless that is 443.
    public let environment: String

    /// The tenant segment of the URL, such as a GUID, a domain or `common`; nil for an issuer that has none.
    public let tenant: String?

    /// The Azure AD B2C user flow, lower-cased.
    public let userFlow: String?

    /// `https`, or `http` on loopback.
    public let scheme: String

    /// The issuer identifier, exactly as given, where the authority is any OpenID provider.
    public let issuer: String?

    /// An OpenID provider, by its issuer identifier.
    ///
    /// One in Microsoft's clouds that is the address of a tenant or a user flow with `/v2.0` behind it is what
    /// ``init(parsing:)`` reads from that address, so that one person has one account there.
    ///
    /// - Throws: ``AuthorityError`` if `issuer` is not an `https` URL (`http` is for loopback), or has a query or a fragment
    ///   ([OpenID Connect Discovery §3](https://openid.net/specs/openid-connect-discovery-1_0.html#ProviderMetadata)).
    public init(issuer: String) throws(AuthorityError) {
        let url = try AuthorityURL(issuer)
        guard !issuer.contains(where: { $0 == "?" || $0 == "#" }) else { throw .notAnIssuer(issuer) }
        if let place = issuer.firstRange(of: "/.well-known/openid-configuration") {
            throw .isMetadata(issuer, issuer[..<place.lowerBound])
        }
        // Microsoft's have their metadata at this address.
        let base = issuer.hasSuffix("/") ? issuer.dropLast() : issuer[...]
        if Cloud.contains(url.environment), let own = try? Authority(parsing: issuer), base == "\(own.url)/v2.0" {
            self = own
            return
        }
        self.init(url, tenant: nil, userFlow: nil, issuer: issuer)
    }

    /// Reads the authority forms of MSAL: `https://HOST/TENANT`, `https://HOST/tfp/TENANT/POLICY`,
    /// `https://HOST/TENANT/POLICY`, `https://HOST/TENANT?p=POLICY` and `https://NAME.ciamlogin.com`; all forms of a
    /// user flow are one authority.
    ///
    /// The address of one of its endpoints stands for the authority.
    ///
    /// - Throws: ``AuthorityError`` if `text` is not one of them.
    public init(parsing text: String) throws(AuthorityError) { try self.init(parsing: text, userFlow: nil) }

    /// Reads the same forms, with a user flow that is named beside the address; the address may name it too.
    package init(parsing text: String, userFlow: String?) throws(AuthorityError) {
        let url = try AuthorityURL(text)
        var path = url.path
        let isMarkedB2C = path.first?.lowercased() == "tfp"
        if isMarkedB2C { path.removeFirst() }
        if Cloud.isExternalID(url.environment), path.isEmpty {
            path = [url.environment.split(separator: ".")[0] + ".onmicrosoft.com"]
        }
        guard let tenant = path.first else { throw .noTenant(text) }
        let named = url.userFlows + [userFlow].compactMap(\.self)
        for name in named where !Self.isPlain(name) { throw .notAUserFlow(name) }
        let second = path.dropFirst().first?.lowercased()
        let isB2C =
            isMarkedB2C || Cloud.isB2C(url.environment) || !named.isEmpty || second?.hasPrefix("b2c_") ?? false
        guard isB2C else {
            self.init(url, tenant: tenant.lowercased(), userFlow: nil, issuer: nil)
            return
        }
        guard named.isEmpty || !Cloud.isExternalID(url.environment) else { throw .noUserFlows(text) }
        // Without a user flow in it, the path goes on with that of an endpoint.
        let isEndpoint = !isMarkedB2C && second.map(Self.endpointSegments.contains) ?? false
        let flows = (isEndpoint ? [] : [second].compactMap(\.self)) + named.map { $0.lowercased() }
        guard let flow = flows.first else { throw .noUserFlow(text) }
        if let other = flows.first(where: { $0 != flow }) { throw .otherUserFlow(other, text) }
        self.init(url, tenant: tenant.lowercased(), userFlow: flow, issuer: nil)
    }

    /// What follows the tenant in the addresses of endpoints.
    private static let endpointSegments: Set = ["oauth2", "v2.0", "discovery", ".well-known"]

    /// The address of a user flow of Azure AD B2C: `SCHEME://HOST/tfp/TENANT/USERFLOW`.
    ///
    /// - Throws: ``AuthorityError`` if host, tenant or user flow make no address.
    public init(host: String, tenant: String, userFlow: String, scheme: String = "https") throws(AuthorityError) {
        let address = "\(scheme)://\(host)/tfp/\(tenant)/\(userFlow)"
        guard Self.isPlain(tenant), Self.isPlain(userFlow) else { throw .notAURL(address) }
        try self.init(parsing: address)
    }

    private static func isPlain(_ part: String) -> Bool {
        !part.isEmpty && part.utf8.allSatisfy { unreserved.contains(Character(Unicode.Scalar($0))) }
    }

    /// Characters that a URL holds unencoded.
    private static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")

    private init(_ url: AuthorityURL, tenant: String?, userFlow: String?, issuer: String?) {
        environment = url.environment
        scheme = url.scheme
        self.tenant = tenant
        self.userFlow = userFlow
        self.issuer = issuer
    }

    private init(_ other: Authority, tenant: String) {
        environment = other.environment
        scheme = other.scheme
        self.tenant = tenant
        userFlow = other.userFlow
        issuer = nil
    }

    /// The canonical form of the address.
    public var url: String {
        if let issuer { return issuer }
        let base = "\(scheme)://\(environment)"
        return userFlow.map { "\(base)/tfp/\(tenant ?? "")/\($0)" } ?? "\(base)/\(tenant ?? "")"
    }

    /// The same authority for another tenant.
    package func replacing(tenant: String) -> Authority {
        guard issuer == nil else { return self }
        return Authority(self, tenant: tenant.lowercased())
    }

    /// Whether the tenant is one of the words that mean "the tenant that the account is from".
    package var isTenantless: Bool { tenant.map(Self.isTenantless) ?? true }

    /// Whether `tenant` is a word, such as `common`, that names no tenant.
    package static func isTenantless(_ tenant: String) -> Bool {
        tenantless.contains(tenant.lowercased())
    }

    private static let tenantless = ["", "common", "organizations", "consumers", "tfp"]

    /// Whether this is where the tokens of an account come from.
    package func vouches(for account: Account.ID) -> Bool {
        // What names no issuer is a host, or the name of a group of them.
        guard account.hasIssuer else {
            return account.issuer.hasSameBytes(as: Cloud.group(of: environment))
                && !(tenant == "organizations" && ClientInfo.isPersonal(account.homeAccountID))
        }
        return issuer.map { $0.hasSameBytes(as: account.issuer) } ?? mayBe(account.issuer)
    }

    /// Whether an issuer of this name may be this authority's own, a Microsoft tenant or user flow.
    ///
    /// Its address is not the authority's: it has the tenant's id where that may have a domain or a word, and where the
    /// authority is for every tenant it has `{tenantid}`.
    package func mayBe(_ named: String) -> Bool {
        guard let address = WebAddress(secure: named) else { return false }
        let start = named.firstRange(of: "://")?.upperBound ?? named.startIndex
        var path = named[start...].split(separator: "/").dropFirst().map { $0.lowercased() }
        let isUserFlow = path.first == "tfp"
        if isUserFlow { path.removeFirst() }
        guard let tenantID = path.first, isHost(address, of: tenantID) else { return false }
        if isUserFlow { guard path.count > 1, path[1] == userFlow else { return false } }
        if tenantID == "{tenantid}" { return isTenantless }
        // The id stands where a domain or a word was asked for; another domain or word is another tenant.
        return tenant == tenantID || ClientInfo.isTenantID(tenantID) && !ClientInfo.isTenantID(tenant ?? "")
    }

    /// Whether `address` is at a host of this authority's issuer: its own host, or for External ID, which apps may
    /// reach by another name, the host that the tenant's id names.
    private func isHost(_ address: WebAddress, of tenantID: String) -> Bool {
        if Cloud.group(of: address.name) == Cloud.group(of: environment) { return true }
        let mayBeExternalID = Cloud.isExternalID(environment) || !Cloud.contains(environment)
        return mayBeExternalID && ClientInfo.isTenantID(tenantID) && address.name == "\(tenantID).ciamlogin.com"
    }
}

/// The parts of a URL that an authority is made of.
struct AuthorityURL {
    /// The host, lower-cased, with its port unless that is the scheme's own.
    let environment: String

    /// `https`, or `http` on loopback.
    let scheme: String

    /// The path segments that are not empty.
    let path: [String]

    /// The values of the parameter `p`, by which Azure AD B2C is asked for a user flow.
    let userFlows: [String]

    init(_ text: String) throws(AuthorityError) {
        guard let address = WebAddress(text) else { throw .notAURL(text) }
        guard address.isSecure else { throw .notSecure(text) }
        scheme = address.scheme
        environment = address.name
        let rest = address.rest.prefix { $0 != "#" }
        path = rest.prefix { $0 != "?" }.split(separator: "/").map(String.init)
        userFlows = rest.drop { $0 != "?" }.dropFirst().split(separator: "&").compactMap { parameter in
            let equals = parameter.firstIndex(of: "=") ?? parameter.endIndex
            return parameter[..<equals].lowercased() == "p" ? String(parameter[equals...].dropFirst()) : nil
        }
    }
}

/// Why a text names no authority.
public struct AuthorityError: CodedError, Hashable {
    /// Which problem it is; a new version may add codes.
    public struct Code: ErrorCode {
        /// The name by which it is compared and printed.
        public let rawValue: String

        /// One of this name.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The text is not a URL.
        public static let notAURL = Code(rawValue: "not_a_url")
        /// The address is neither `https` nor one of this machine.
        public static let notSecure = Code(rawValue: "not_secure")
        /// The address names no tenant.
        public static let noTenant = Code(rawValue: "no_tenant")
        /// The address names no user flow.
        public static let noUserFlow = Code(rawValue: "no_user_flow")
        /// A user flow is named where the address names another one, or can have none.
        public static let unexpectedUserFlow = Code(rawValue: "unexpected_user_flow")

        /// Those of this version; a later one may have more.
        public static let known = [
            notAURL, notSecure, noTenant, noUserFlow, unexpectedUserFlow,
        ]
    }

    /// The domain of the error as an `NSError`.
    public static var domain: String { "OAuth.AuthorityError" }

    /// What went wrong, for programs.
    public let code: Code

    /// What went wrong, in one sentence without advice.
    public let problem: String

    /// What may help; nil if nothing is known.
    public let remedy: Remedy?

    /// Makes an error; `problem` is one sentence without advice, and is shortened where it has over 1,200 characters.
    public init(_ code: Code, _ problem: String, _ remedy: Remedy? = nil) {
        self.code = code
        self.problem = problem.boundedSentence
        self.remedy = remedy
    }
}

extension AuthorityError {
    package static func notAURL(_ text: String) -> AuthorityError {
        // What stands before the sign may be a password.
        let start = text.utf8.lastIndex(of: UInt8(ascii: "@"))
        return AuthorityError(
            .notAURL,
            "'\(start.map { "…" + text[$0...] } ?? text)' is not a URL",
            .correct("give one such as https://login.example.com/tenant")
        )
    }

    static func notAnIssuer(_ text: String) -> AuthorityError {
        AuthorityError(
            .notAURL,
            "'\(text)' is not the address of an issuer, which has no ? and no # in it",
            .correct("give the part before them")
        )
    }

    static func isMetadata(_ text: String, _ issuer: Substring) -> AuthorityError {
        AuthorityError(.notAURL, "'\(text)' is the address of an issuer's metadata", .correct("give \(issuer)"))
    }

    package static func notSecure(_ text: String) -> AuthorityError {
        AuthorityError(.notSecure, "'\(text)' is not https", .correct("plain http is for loopback addresses only"))
    }

    package static func noTenant(_ text: String) -> AuthorityError {
        AuthorityError(.noTenant, "'\(text)' names no tenant", .correct("add one, such as /contoso.onmicrosoft.com"))
    }

    package static func noUserFlow(_ text: String) -> AuthorityError {
        AuthorityError(.noUserFlow, "'\(text)' names no user flow", .correct("add one, such as /B2C_1_SignIn"))
    }

    package static func notAUserFlow(_ text: String) -> AuthorityError {
        AuthorityError(.noUserFlow, "'\(text)' is not a user flow", .correct("give one such as B2C_1_SignIn"))
    }

    package static func otherUserFlow(_ name: String, _ text: String) -> AuthorityError {
        AuthorityError(
            .unexpectedUserFlow,
            "'\(text)' names another user flow than '\(name)'",
            .correct("leave one of them out")
        )
    }

    package static func noUserFlows(_ text: String) -> AuthorityError {
        AuthorityError(
            .unexpectedUserFlow,
            "'\(text)' is at a host where no user flow is chosen by its name",
            .correct("leave the user flow out")
        )
    }
}
