import HTTPTransport
import OAuth
import Synchronization
import TestSupport

/// Every server there is, each of which answers what a client hopes for; it notes what it was sent.
final class HostileNetwork: HTTPTransport {
    /// A request to a token endpoint.
    struct Sent: Sendable {
        let url: String
        let form: [String: String]
        let text: String
    }

    private let requests = LockedValue<[Sent]>([])

    var sent: [Sent] { requests.withLock(\.self) }

    func forget() { requests.withLock { $0 = [] } }

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse {
        let body = request.body?.reveal() ?? ""
        let headers = request.headers.fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n")
        var form: [String: String] = [:]
        for field in body.split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1)
            form[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
        }
        let sent = Sent(url: request.url, form: form, text: "\(request.url)\n\(headers)\n\(body)")
        requests.withLock { $0.append(sent) }
        return Self.answer(to: request, form)
    }

    private static func answer(to request: HTTPRequest, _ form: [String: String]) -> HTTPResponse {
        if let token = form["refresh_token"] {
            var answer: JSONValue = [
                "access_token": .string("fresh-\(token)"), "token_type": "Bearer", "expires_in": 3600,
            ]
            if request.url.contains("login.microsoftonline.com") { answer = answer.with(["foci": "1"]) }
            return HTTPResponse(status: 200, body: Secret(answer.serialized))
        }
        let suffix = "/.well-known/openid-configuration"
        guard request.url.hasSuffix(suffix) else {
            let keys: JSONValue = ["keys": []]
            return HTTPResponse(status: request.url.hasSuffix("/keys") ? 200 : 404, body: Secret(keys.serialized))
        }
        let document = metadata(at: String(request.url.dropLast(suffix.count)))
        return HTTPResponse(status: 200, body: Secret(JSONValue.object(document).serialized))
    }

    static func metadata(of authority: Authority) -> JSONValue.Object {
        metadata(at: authority.issuer ?? authority.url + "/v2.0")
    }

    static func endpoint(of authority: Authority) -> String {
        (authority.issuer ?? authority.url + "/v2.0") + "/token"
    }

    static func keysAddress(of authority: Authority) -> String {
        (authority.issuer ?? authority.url + "/v2.0") + "/keys"
    }

    /// The metadata of an issuer; a user flow's names its tenant.
    private static func metadata(at base: String) -> JSONValue.Object {
        var issuer = base
        if let flow = base.firstRange(of: "/tfp/") {
            let tenant = base[flow.upperBound...].prefix { $0 != "/" }
            issuer = "\(base[..<flow.lowerBound])/\(tenant)/v2.0"
        }
        return JSONValue.Object([
            ("issuer", .string(issuer)), ("token_endpoint", .string(base + "/token")),
            ("jwks_uri", .string(base + "/keys")), ("revocation_endpoint", .string(base + "/revoke")),
            ("device_authorization_endpoint", .string(base + "/device")),
        ])
    }
}
