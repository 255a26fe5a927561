import Foundation

extension Seed {
    /// The documented set that is used without `--seed`.
    package static var standard: Seed {
        get throws { try Seed(json: Data(standardJSON.utf8)) }
    }

    /// Also what `local-idp --print-seed` shows, as a start for another seed.
    package static let standardJSON = """
        {
          "tenants": [
            {
              "id": "5f2d6e0a-63c1-4c0e-9a55-0f6f3d1c7a10",
              "domain": "fabrikvine.onmicrosoft.com",
              "clients": [
                {"id": "otp-app", "name": "Code app", "isNativeEnabled": true, "signUpMethod": "code",
                 "redirectURIs": ["http://127.0.0.1/", "http://localhost/"]},
                {"id": "pwd-app", "name": "Password app", "isNativeEnabled": true, "signUpMethod": "password",
                 "redirectURIs": ["http://127.0.0.1/", "http://localhost/"],
                 "attributePages": [[{"name": "country"}], [{"name": "city"}]]},
                {"id": "mfa-app", "name": "Two-factor app", "isNativeEnabled": true, "secondFactor": "always",
                 "redirectURIs": ["http://127.0.0.1/", "http://localhost/"]},
                {"id": "b2c-app", "name": "Browser app", "secondFactor": "onClaim",
                 "redirectURIs": ["http://127.0.0.1/", "http://localhost/", "https://127.0.0.1/",
                                  "http://127.0.0.1/callback", "msauth.com.example.tokenstore://auth"]},
                {"id": "api-server", "name": "API server", "secret": "for-development-only"}
              ],
              "policies": [{"name": "b2c_1_susi"}, {"name": "b2c_1_edit", "kind": "edit_profile"},
                           {"name": "b2c_1_reset", "kind": "reset"},
                           {"name": "b2c_1_signin", "forwardsForgottenPassword": true}],
              "attributes": [
                {"name": "country", "regex": "^[A-Za-z ]{2,60}$"},
                {"name": "extension_fabrikvine_loyalty", "claim": "loyalty"}
              ],
              "resources": [
                {"identifier": "api://todolist", "audience": "8c1b6a34-0d0e-4f43-9d3a-7a5d2f7c1a01", "path": "api1",
                 "scopes": [{"value": "ToDoList.Read"}, {"value": "ToDoList.ReadWrite"}]},
                {"identifier": "https://fabrikvine.onmicrosoft.com/helloapi",
                 "audience": "2b7e9f10-5a4c-4e8b-8f21-90c3de6b1b02", "path": "api2",
                 "scopes": [{"value": "demo.read"}, {"value": "demo.write", "needsConsent": true}]}
              ],
              "users": [
                {"id": "0b8f7a9e-1111-4c7d-9c1e-a1a1a1a1a1a1", "email": "ana.rojas@example.org",
                 "password": "Quinoa-7-Lunas",
                 "attributes": {"displayName": "Ana Rojas", "country": "Ecuador", "city": "Quito",
                                "extension_fabrikvine_loyalty": "gold-17"}},
                {"id": "0b8f7a9e-2222-4c7d-9c1e-b2b2b2b2b2b2", "email": "bo@example.org",
                 "attributes": {"displayName": "Bo Lind"}},
                {"id": "0b8f7a9e-4444-4c7d-9c1e-d4d4d4d4d4d4", "email": "finn@example.net",
                 "identityProvider": "facebook.com", "attributes": {"displayName": "Finn Aalto"}},
                {"id": "0b8f7a9e-3333-4c7d-9c1e-c3c3c3c3c3c3", "email": "cleo@example.org",
                 "password": "Marmol-4-Rios", "attributes": {"displayName": "Cleo Vega"},
                 "methods": [{"id": "m-email", "channel": "email", "target": "cleo.second@example.org"},
                             {"id": "m-sms", "channel": "sms", "target": "+593987654321"},
                             {"id": "m-blocked", "channel": "email", "target": "cleo.old@example.org",
                              "isBlocked": true}]}
              ],
              "blockedContacts": ["blocked@example.org", "+593900000000"]
            },
            {
              "id": "9d3a41c2-7b5e-4a5c-8a8f-5c6e0d1b2e20",
              "domain": "tailspin.example",
              "algorithm": "ES256",
              "clients": [
                {"id": "oidc-app", "name": "OpenID Connect app",
                 "redirectURIs": ["http://127.0.0.1/", "http://localhost/"]}
              ],
              "users": [
                {"email": "dara@example.org", "password": "Basalto-9-Sol", "attributes": {"displayName": "Dara Oum"}}
              ]
            }
          ]
        }
        """
}
