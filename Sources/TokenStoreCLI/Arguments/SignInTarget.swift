import ArgumentParser
import NativeAuthentication
package import OAuth

/// Where someone signs in, and to which client.
struct SignInTarget: ParsableArguments {
    @Option(help: ArgumentHelp("The issuer identifier of an OpenID provider.", valueName: "url"))
    var issuer: String?

    @Option(
        help: ArgumentHelp(
            "A Microsoft tenant: https://HOST/TENANT, and for Azure AD B2C with --policy or .../tfp/TENANT/POLICY.",
            valueName: "url"
        )
    )
    var authority: String?

    @Option(
        help: ArgumentHelp(
            "Microsoft's cloud, in place of an address: public, china or us-government.",
            valueName: "cloud"
        )
    )
    var environment: MicrosoftCloud?

    @Option(
        help: ArgumentHelp(
            "With --environment: the tenant's domain or id. Default: organizations.",
            valueName: "tenant"
        )
    )
    var tenant: String?

    @Option(help: ArgumentHelp("The B2C user flow, such as B2C_1_SUSI; with --authority.", valueName: "name"))
    var policy: String?

    @Option(help: ArgumentHelp("The client, as it is registered there.", valueName: "id"))
    var clientID: String

    func validate() throws {
        let places = [issuer, authority, environment?.rawValue].compactMap(\.self)
        guard !places.isEmpty else {
            throw ValidationError("no issuer is named", hint: "give --issuer, --authority or --environment")
        }
        guard places.count == 1 else {
            throw ValidationError(
                "--issuer, --authority and --environment exclude each other",
                hint: "give one of them"
            )
        }
        guard tenant == nil || environment != nil else {
            throw ValidationError("--tenant needs --environment", hint: "otherwise the tenant is part of --authority")
        }
        guard policy == nil || authority != nil else {
            throw ValidationError("--policy needs --authority", hint: "give the tenant's address")
        }
        guard !clientID.isEmpty else { throw ValidationError("--client-id is empty", hint: "give the client's id") }
        do { _ = try whereTo() } catch { throw ValidationError(error) }
    }

    /// Throws unless it is a tenant that may have native authentication.
    func validateNative() throws {
        guard let authority, policy == nil else {
            throw ValidationError(
                "--native is for a tenant",
                hint: "give --authority, and neither --issuer nor --policy"
            )
        }
        do {
            _ = try NativeAuthConfiguration(clientID: clientID, authority: Authority(parsing: authority))
        } catch {
            throw ValidationError(error)
        }
    }

    func whereTo() throws -> Authority {
        if let issuer { return try Authority(issuer: issuer) }
        if let environment { return try environment.authority(tenant: tenant) }
        let address = authority ?? ""
        guard let policy else { return try Authority(parsing: address) }
        do throws(AuthorityError) {
            return try Authority(parsing: address, userFlow: policy)
        } catch {
            guard error.code == .unexpectedUserFlow else { throw error }
            throw AuthorityError(error.code, error.problem, .correct("leave out --policy"))
        }
    }
}

/// One of Microsoft's clouds, each with sign-in hosts, accounts and registrations of its own.
package enum MicrosoftCloud: String, CaseIterable, ExpressibleByArgument {
    case `public`
    case china
    case usGovernment = "us-government"

    /// The authority of a tenant there, or of all that organizations have.
    package func authority(tenant: String?) throws -> Authority {
        try Authority(parsing: "https://\(host)/\(tenant ?? "organizations")")
    }

    private var host: String {
        switch self {
        case .public: "login.microsoftonline.com"
        case .china: "login.partner.microsoftonline.cn"
        case .usGovernment: "login.microsoftonline.us"
        }
    }
}
