package import OAuth
import Synchronization

/// An OpenID issuer on loopback that answers as a test says: as real ones were seen to, and textbooks do not.
///
/// Its metadata names a token endpoint, and only what a test adds to it; it publishes no keys.
package final class HandmadeIssuer: Sendable {
    package struct Answer: Sendable {
        package let status: Int
        package let headers: [String]
        package let body: String

        package init(status: Int = 200, headers: [String] = [], _ body: String = "") {
            self.status = status
            self.headers = headers
            self.body = body
        }

        /// None: the connection closes under the request.
        package static let closing = Answer(status: 0)

        fileprivate var text: String {
            guard status > 0 else { return "" }
            let fields = ["Content-Length: \(body.utf8.count)", "Connection: close"] + headers
            return "HTTP/1.1 \(status) X\r\n\(fields.joined(separator: "\r\n"))\r\n\r\n\(body)"
        }
    }

    /// The requests it received, and its answers.
    private final class Script: Sendable {
        let answers = LockedValue<[String: [Answer]]>([:])
        let forms = LockedValue<[String: [[String: String]]]>([:])
        let authorizations = LockedValue<[String: [String]]>([:])

        /// The next answer of a path.
        func answer(_ request: String) -> Answer {
            let path = String(request.split(separator: " ").dropFirst().first ?? "")
            let body = request.firstRange(of: "\r\n\r\n").map { request[$0.upperBound...] } ?? ""
            forms.withLock { $0[path, default: []].append(FormBody.fields(String(body))) }
            let field = request.split(separator: "\r\n").first { $0.lowercased().hasPrefix("authorization: ") }
            if let field { authorizations.withLock { $0[path, default: []].append(String(field.dropFirst(15))) } }
            return answers.withLock { answers in
                guard let waiting = answers[path], let next = waiting.first else { return Answer(status: 404) }
                if waiting.count > 1 { answers[path]?.removeFirst() }
                return next
            }
        }
    }

    private static let openIDPath = "/op/.well-known/openid-configuration"

    private let script: Script
    private let server: RawServer

    /// Without its last slash.
    package let baseURL: String
    package var issuer: String { baseURL + "/op" }

    package init() throws {
        let script = Script()
        self.script = script
        server = try RawServer { script.answer($0).text }
        baseURL = String(server.url.dropLast())
        publish()
    }

    deinit { server.stop() }

    /// Publishes metadata with more members than an issuer and a token endpoint, at another place than usual.
    package func publish(
        _ members: JSONValue.Object = JSONValue.Object(),
        headers: [String] = [],
        at path: String? = nil
    ) {
        script.answers.withLock { $0[Self.openIDPath] = nil }
        publishAlso(members, headers: headers, at: path ?? Self.openIDPath)
    }

    /// Publishes this metadata in addition.
    package func publishAlso(_ members: JSONValue.Object, headers: [String] = [], at path: String) {
        var metadata = JSONValue.Object([
            ("issuer", .string(issuer)), ("token_endpoint", .string(issuer + "/token")),
        ])
        for (name, value) in members.members { metadata[name] = value }
        answer(Answer(headers: headers, JSONValue.object(metadata).serialized), at: path)
    }

    /// The next responses at a path, in order; the last one is repeated.
    package func answer(_ answers: Answer..., at path: String = "/op/token") {
        script.answers.withLock { $0[path] = answers }
    }

    /// The forms that were sent to a path.
    package func forms(_ path: String = "/op/token") -> [[String: String]] {
        script.forms.withLock { $0[path] ?? [] }
    }

    /// The values of the header `Authorization` that were sent to a path.
    package func authorizations(_ path: String) -> [String] { script.authorizations.withLock { $0[path] ?? [] } }

    /// How often its metadata was asked for.
    package var metadataRequests: Int { forms(Self.openIDPath).count }
}
