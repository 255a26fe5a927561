import Foundation
import LocalIdentityProvider

/// A browser without a screen: keeps cookies and posts the forms it is shown.
actor StepwiseBrowser {
    private let site: Site
    private var cookies: [String: String] = [:]
    private var url = ""
    private(set) var page = Answer(status: 0, headers: [], body: [])

    init(_ site: Site) { self.site = site }

    @discardableResult
    func open(_ url: String) async throws -> Answer {
        self.url = url
        return keep(try await site.get(url, headers: headers))
    }

    /// Posts the form of the page with these fields and that button.
    @discardableResult
    func press(_ action: String, _ fields: [String: String] = [:]) async throws -> Answer {
        var form = fields
        form["action"] = action
        for match in page.text.matches(of: /type="hidden" name="([^"]+)" value="([^"]*)"/) {
            form[String(match.1)] = String(match.2)
        }
        return keep(try await site.post(url, form, headers: headers))
    }

    func signIn(_ username: String = Site.ana, _ password: String = Site.anasPassword) async throws -> Answer {
        try await press("sign_in", ["username": username, "password": password])
    }

    /// The value of a hidden field of the page.
    var interaction: String {
        page.text.firstMatch(of: /name="interaction" value="([^"]*)"/).map { String($0.1) } ?? ""
    }

    var heading: String { page.text.firstMatch(of: /<h1>([^<]*)<\/h1>/).map { String($0.1) } ?? "" }
    var message: String { page.text.firstMatch(of: /role="alert"[^>]*>([^<]*)</).map { String($0.1) } ?? "" }

    private var headers: [String: String] {
        cookies.isEmpty ? [:] : ["cookie": cookies.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")]
    }

    private func keep(_ answer: Answer) -> Answer {
        for (name, value) in answer.headers where name == "set-cookie" {
            let pair = value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
            if pair.count == 2 { cookies[String(pair[0])] = String(pair[1]) }
        }
        page = answer
        return answer
    }
}
