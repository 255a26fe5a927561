import LocalIdentityProvider
import OAuth
import SignIn

/// Who and what there is on the tour; all of it is made up.
enum World {
    static let tasks: Scope = "api://tasks/Tasks.Read"
    static let notes: Scope = "api://notes/Notes.Read"

    /// Seconds that access tokens of the second user flow last.
    static let shortLifetime = 3

    static let people = [
        Person(name: "Mara Quill", username: "mara@example.net", password: "Tinta-7-Mares", flow: "b2c_1_members"),
        Person(name: "Ivo Brand", username: "ivo@example.org", password: "Roble-5-Lunas", flow: "b2c_1_guests"),
    ]

    /// A person at a browser.
    struct Person: UserAgent {
        let name: String
        let username: String
        let password: String
        let flow: String

        /// Opens the sign-in page, types, and is sent back to the app.
        func open(_ address: String) async throws {
            let browser = try ScriptedBrowser()
            try await browser.open(address)
            try await browser.signIn(username, password)
        }
    }

    /// What the provider starts with.
    static let json = """
        {"tenants": [{
          "id": "3c0e7a52-41d6-4f5b-8a2e-90b1c2d3e4f5", "domain": "quick.example", "algorithm": "ES256",
          "clients": [{"id": "quickstart", "name": "Quickstart", "redirectURIs": ["http://127.0.0.1/"]}],
          "policies": [
            {"name": "b2c_1_members", "kind": "susi"},
            {"name": "b2c_1_guests", "kind": "susi", "accessTokenLifetime": \(shortLifetime)}
          ],
          "resources": [
            {"identifier": "api://tasks", "audience": "6f1d2c3b-0001-4a5b-8c6d-7e8f90a1b2c3", "path": "api1",
             "scopes": [{"value": "Tasks.Read"}]},
            {"identifier": "api://notes", "audience": "6f1d2c3b-0002-4a5b-8c6d-7e8f90a1b2c3", "path": "api2",
             "scopes": [{"value": "Notes.Read"}]}
          ],
          "users": [\(people.map(\.json).joined(separator: ", "))]
        }]}
        """
}

extension World.Person {
    fileprivate var json: String {
        #"{"email": "\#(username)", "password": "\#(password)", "attributes": {"displayName": "\#(name)"}}"#
    }
}
