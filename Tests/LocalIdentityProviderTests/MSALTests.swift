import Foundation
import IssuerSupport
import LocalIdentityProvider
import OAuth
import TestSupport
import Testing

/// MSAL for Python from PyPI as the client.
struct MSALTests {
    /// `LOCAL_IDP_PYTHON` names an interpreter that has `msal`; otherwise `python3` is tried.
    private static var python: Program? {
        Program(ProcessInfo.processInfo.environment["LOCAL_IDP_PYTHON"] ?? "python3")
    }

    private static func isReady() async throws -> Bool {
        guard PrivateAuthority.isAvailable, let python else { return false }
        return try await python.run(["-c", "import msal, requests"]).status == 0
    }

    private static let why: Comment = "needs openssl and a python3 with msal (pip install msal)"

    /// Signs in through the pages with requests, as a browser would, and lets MSAL do everything else.
    private static let script = #"""
        import html, json, re, sys, msal, requests
        kind, authority, ca, scope, redirect_uri, username, password, client_id = sys.argv[1:9]
        scopes = scope.split()
        options = {"oidc_authority": authority} if kind == "oidc" else {"authority": authority}
        app = msal.PublicClientApplication(client_id, verify=ca, instance_discovery=False, **options)
        flow = app.initiate_auth_code_flow(scopes, redirect_uri=redirect_uri, prompt="select_account")
        browser = requests.Session()
        browser.verify = ca
        page = browser.get(flow["auth_uri"], allow_redirects=False)
        assert page.status_code == 200, page.text
        hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', page.text))
        form = {k: html.unescape(v) for k, v in hidden.items()}
        form.update(username=username, password=password, action="sign_in")
        answer = browser.post(flow["auth_uri"], data=form, allow_redirects=False)
        if answer.status_code == 200:
            hidden = dict(re.findall(r'type="hidden" name="([^"]+)" value="([^"]*)"', answer.text))
            response = {k: html.unescape(v) for k, v in hidden.items()}
        else:
            assert answer.status_code == 302, answer.text
            query = requests.utils.urlparse(answer.headers["Location"]).query
            from urllib.parse import parse_qsl
            response = dict(parse_qsl(query))
        first = app.acquire_token_by_auth_code_flow(flow, response)
        assert "access_token" in first, first
        account = app.get_accounts()[0]
        cached = app.acquire_token_silent(scopes, account=account)
        renewed = app.acquire_token_silent(scopes, account=account, force_refresh=True)
        again = app.acquire_token_silent(scopes, account=account, force_refresh=True)
        print(json.dumps({
            "version": msal.__version__, "accounts": len(app.get_accounts()),
            "name": first["id_token_claims"]["name"], "tfp": first["id_token_claims"].get("tfp"),
            "scope": first["scope"], "home": account["home_account_id"],
            "cached": cached["access_token"] == first["access_token"],
            "renewed": renewed["access_token"] != first["access_token"] and renewed["token_source"],
            "again": again["access_token"] != renewed["access_token"] and again["token_source"],
        }))
        """#

    private func run(_ kind: String, _ path: String, _ site: Site, _ authority: PrivateAuthority, _ more: [String])
        async throws -> JSONValue
    {
        guard let python = Self.python else { throw ExpectationFailure("python") }
        let url = site.provider.baseURL + path
        // requests lets these variables win over what a session was told to trust.
        let trust = ["REQUESTS_CA_BUNDLE": authority.path, "CURL_CA_BUNDLE": authority.path]
        let arguments = ["-c", Self.script, kind, url, authority.path] + more
        let result = try await python.run(arguments, environment: trust)
        guard result.status == 0 else { throw ExpectationFailure("success of MSAL: \(result)") }
        return try JSONValue(parsing: result.output)
    }

    @Test(.enabled(why) { try await isReady() })
    func `MSAL Python signs in to a user flow and renews silently`() async throws {
        let authority = try PrivateAuthority()
        try await Site.open(tls: .init(chain: authority.chain, key: authority.key), clock: ProviderClock()) { site in
            let scope = "https://fabrikvine.onmicrosoft.com/helloapi/demo.read"
            let more = [scope, "http://localhost:53211/", Site.ana, Site.anasPassword, "b2c-app"]
            let outcome = try await run("b2c", "/tfp/fabrikvine.onmicrosoft.com/b2c_1_susi", site, authority, more)
            #expect(outcome["name"] == "Ana Rojas")
            #expect(outcome["tfp"] == "b2c_1_susi")
            #expect(outcome["accounts"] == 1)
            #expect(outcome["scope"].text == scope)
            #expect(
                outcome["home"]
                    == "0b8f7a9e-1111-4c7d-9c1e-a1a1a1a1a1a1-b2c_1_susi.5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10"
            )
            #expect(outcome["cached"] == true)
            #expect(outcome["renewed"] == "identity_provider")
            #expect(outcome["again"] == "identity_provider")
            #expect(site.requests(to: "token") == 3)
        }
    }

    @Test(
        .enabled(why) { try await isReady() },
        arguments: [
            ("fabrikvine", Site.ana, Site.anasPassword, "b2c-app", "Ana Rojas"),
            ("tailspin", "dara@example.org", "Basalto-9-Sol", "oidc-app", "Dara Oum"),
        ]
    )
    func `MSAL Python signs in to a plain OpenID Connect issuer and renews silently`(
        tenant: String,
        username: String,
        password: String,
        client: String,
        name: String
    ) async throws {
        let authority = try PrivateAuthority()
        try await Site.open(tls: .init(chain: authority.chain, key: authority.key), clock: ProviderClock()) { site in
            let more = ["email", "http://localhost:53211/", username, password, client]
            let outcome = try await run("oidc", "/\(tenant)/v2.0", site, authority, more)
            #expect(outcome["name"].text == name)
            #expect(outcome["cached"] == true)
            #expect(outcome["renewed"] == "identity_provider")
            #expect(outcome["again"] == "identity_provider")
        }
    }
}
