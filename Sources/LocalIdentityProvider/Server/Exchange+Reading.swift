import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// From a request on the wire to a checked ``Exchange``.
extension Exchange {
    init(_ request: Request) {
        let target = Self.target(request.uri.path.split(separator: "/").map(String.init))
        route = target.route
        rest = target.rest
        head = request.head
        let correlation = HTTPField.Name("client-request-id").flatMap { request.headers[$0] }
        correlationID = (correlation.flatMap(UUID.init(uuidString:)) ?? UUID()).uuidString.lowercased()
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
        let host = head.authority ?? ""
        let name = host.replacing(/:[0-9]*$/, with: "").lowercased()
        guard ["127.0.0.1", "[::1]", "localhost"].contains(name) || name.hasSuffix(".localhost") else {
            throw ProtocolError.foreignHost
        }
    }

    func checkMethod() throws {
        guard route != .unknown else { throw ProtocolError.unknownRoute }
        guard route.methods.contains(method) else {
            throw ProtocolError.wrongMethod(allowed: route.methods.map(\.rawValue).joined(separator: ", "))
        }
    }

    mutating func read(_ request: Request) async throws {
        query = try Parameters(urlEncoded: Array((request.uri.query ?? "").utf8))
        guard method != .get, method != .head else { return }
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > Gateway.maximumBody {
            throw ProtocolError.oversizedBody
        }
        do {
            body = Array(try await request.body.collect(upTo: Gateway.maximumBody).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw ProtocolError.oversizedBody
        }
        guard route != .api, route != .admin else { return }
        let type = (headers[.contentType] ?? "").split(separator: ";").first?.lowercased() ?? ""
        guard type == "application/x-www-form-urlencoded" || (body.isEmpty && route.methods != [.post]) else {
            throw ProtocolError.contentType
        }
        form = try Parameters(urlEncoded: body)
    }
}
