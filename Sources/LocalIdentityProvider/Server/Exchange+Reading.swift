import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// From a request on the wire to a checked ``Exchange``.
extension Exchange {
    init(_ request: Request) {
        let path = request.uri.path
        let segments = path.split(separator: "/", omittingEmptySubsequences: true).map(String.init)
        let target = Self.target(segments)
        let correlation = HTTPField.Name("client-request-id").flatMap { request.headers[$0] }
        self.init(
            route: target.route,
            realm: nil,
            method: request.method,
            rest: target.rest,
            path: path,
            authority: request.head.authority,
            headers: request.headers,
            correlationID: correlation.flatMap(UUID.init(uuidString:))?.uuidString.lowercased()
                ?? UUID().uuidString.lowercased()
        )
        names = target.names
    }

    private typealias Target = (route: Route, rest: [String], names: (tenant: String, policy: String?)?)

    /// Finds the route; the form of a policy's path without `tfp` is an alias.
    private static func target(_ segments: [String]) -> Target {
        guard let first = segments.first else { return (.unknown, [], nil) }
        if first == "api1" || first == "api2" { return (.api, segments, nil) }
        if first == "admin" { return (.admin, Array(segments.dropFirst()), nil) }
        let names = first == "tfp" ? Array(segments.dropFirst()) : segments
        for count in [1, 2] where names.count > count {
            guard count == 2 || first != "tfp" else { continue }
            guard let route = Route(rawValue: names.dropFirst(count).joined(separator: "/")) else { continue }
            return (route, [], (names[0], count == 2 ? names[1] : nil))
        }
        return (.unknown, [], nil)
    }

    /// Refuses names that a page elsewhere could point at this machine.
    func checkHost() throws {
        let host = authority ?? ""
        let name = host.replacing(/:[0-9]*$/, with: "").lowercased()
        guard ["127.0.0.1", "[::1]", "localhost"].contains(name) || name.hasSuffix(".localhost") else {
            throw ProtocolError(
                "invalid_request",
                ErrorNumber.foreignHost,
                "Only 127.0.0.1, [::1] and localhost are served.",
                status: 421
            )
        }
    }

    func checkMethod() throws {
        let allowed: [HTTPRequest.Method] =
            switch route {
            case .unknown: throw Gateway.unknownRoute
            case .admin: [.get, .post, .delete]
            case .api: [.get, .head, .post, .put, .patch, .delete]
            case .metadata, .keys: [.get, .head]
            case .authorize, .device, .logout, .userInfo: [.get, .post]
            default: [.post]
            }
        guard allowed.contains(method) else {
            var error = ProtocolError(
                "invalid_request",
                ErrorNumber.wrongMethod,
                "The method is not allowed.",
                status: 405
            )
            error.headers["allow"] = allowed.map(\.rawValue).joined(separator: ", ")
            throw error
        }
    }

    /// Reads query and body.
    mutating func read(_ request: Request) async throws {
        query = try Parameters(urlEncoded: Array((request.uri.query ?? "").utf8))
        guard method != .get, method != .head else { return }
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > Gateway.maximumBody {
            throw Self.tooLarge
        }
        do {
            body = Array(try await request.body.collect(upTo: Gateway.maximumBody).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw Self.tooLarge
        }
        guard route != .api, route != .admin else { return }
        let type = (headers[.contentType] ?? "").split(separator: ";").first?.lowercased() ?? ""
        guard type == "application/x-www-form-urlencoded" || (body.isEmpty && !route.isFormOnly) else {
            throw ProtocolError.invalidRequest(
                ErrorNumber.contentType,
                "The body must be application/x-www-form-urlencoded."
            )
        }
        form = try Parameters(urlEncoded: body)
    }

    private static var tooLarge: ProtocolError {
        var error = ProtocolError(
            "invalid_request",
            ErrorNumber.oversizedBody,
            "The body is longer than \(Gateway.maximumBody) bytes. Send less.",
            status: 413
        )
        error.headers["connection"] = "close"
        return error
    }
}
