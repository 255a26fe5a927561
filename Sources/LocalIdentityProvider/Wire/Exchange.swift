import Foundation
import HTTPTypes
import Hummingbird
import NIOCore

/// One request, read whole and checked for form.
struct Exchange: Sendable {
    static let maximumBody = 262_144

    let head: HTTPRequest
    let route: Route
    /// The path's segments behind the part that chose the route.
    let rest: [String]
    /// What the path calls its tenant and policy; nil for the APIs and test control.
    let names: (tenant: String, policy: String?)?
    let correlationID: String
    /// What the next ID token must get wrong, when a fault asks for it.
    var flaw: Fault.IDTokenFlaw?
    private(set) var query = Parameters()
    private(set) var form = Parameters()
    private(set) var body: [UInt8] = []

    var method: HTTPRequest.Method { head.method }
    /// The query, or the form of a POST.
    var parameters: Parameters { method == .post ? form : query }

    init(_ request: Request) {
        head = request.head
        (route, rest, names) = Self.target(request.uri.path.split(separator: "/").map(String.init))
        let correlation = HTTPField.Name("client-request-id").flatMap { request.headers[$0] }
        correlationID = (correlation.flatMap(UUID.init(uuidString:)) ?? UUID()).uuidString.lowercased()
    }

    private typealias Target = (route: Route, rest: [String], names: (tenant: String, policy: String?)?)

    /// Finds the route; the form of a policy's path without `tfp` is an alias.
    private static func target(_ segments: [String]) -> Target {
        let first = segments.first ?? ""
        if Route.apis.contains(first) { return (.api, segments, nil) }
        if first == "admin" { return (.admin, Array(segments.dropFirst()), nil) }
        let path = first == "tfp" ? segments.dropFirst() : segments[...]
        for count in (first == "tfp" ? 2 : 1)...2 where path.count > count {
            guard let route = Route(rawValue: path.dropFirst(count).joined(separator: "/")) else { continue }
            let names = Array(path.prefix(count))
            return (route, [], (names[0], count == 2 ? names[1] : nil))
        }
        return (.unknown, [], nil)
    }

    /// Refuses names that a page elsewhere could point at this machine, and methods the route does not have.
    func check() throws {
        let name = (head.authority ?? "").replacing(/:[0-9]*$/, with: "").lowercased()
        guard ["127.0.0.1", "[::1]", "localhost"].contains(name) || name.hasSuffix(".localhost") else {
            throw ProtocolError.foreignHost
        }
        guard route != .unknown else { throw ProtocolError.unknownRoute }
        guard route.methods.contains(method) else {
            throw ProtocolError.wrongMethod(allowed: route.methods.map(\.rawValue).joined(separator: ", "))
        }
    }

    mutating func read(_ request: Request) async throws {
        query = try Parameters(urlEncoded: Array((request.uri.query ?? "").utf8))
        guard method != .get, method != .head else { return }
        let length = request.headers[.contentLength].flatMap { Int($0) } ?? 0
        guard length <= Self.maximumBody else { throw ProtocolError.oversizedBody }
        do {
            body = Array(try await request.body.collect(upTo: Self.maximumBody).readableBytesView)
        } catch is NIOTooManyBytesError {
            throw ProtocolError.oversizedBody
        }
        guard route != .api, route != .admin else { return }
        let type = (request.headers[.contentType] ?? "").split(separator: ";").first?.lowercased() ?? ""
        guard type == "application/x-www-form-urlencoded" || (body.isEmpty && route.methods != [.post]) else {
            throw ProtocolError.contentType
        }
        form = try Parameters(urlEncoded: body)
    }

    /// The `DPoP` header (RFC 9449 section 4.1).
    var proof: String? { head.headerFields.first { $0.name.canonicalName == "dpop" }?.value }

    func cookie(_ name: String) -> String? {
        let pairs = (head.headerFields[.cookie] ?? "").split(separator: ";").map { $0.drop { $0 == " " } }
        return pairs.first { $0.hasPrefix(name + "=") }.map { String($0.dropFirst(name.count + 1)) }
    }

    /// What follows the scheme in the `Authorization` header, such as `Bearer` (RFC 6750 section 2.1).
    func authorization(_ scheme: String) -> String? {
        let halves = (head.headerFields[.authorization] ?? "").split(separator: " ", maxSplits: 1)
        return halves.count == 2 && halves[0].lowercased() == scheme ? String(halves[1]) : nil
    }
}

/// The parameters of one query or form body, each present at most once (RFC 6749 section 3.1).
struct Parameters: Sendable {
    private static let maximumCount = 64
    private static let maximumBytes = 16_384

    /// By the bytes of their names.
    private var values: [[UInt8]: String] = [:]

    init() {}

    /// Parses `application/x-www-form-urlencoded` strictly.
    init(urlEncoded bytes: some Collection<UInt8>) throws {
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let halves = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = try Self.decode(halves[0])
            guard !name.isEmpty else { throw ProtocolError.invalidParameter("An unnamed") }
            let value = halves.count > 1 ? try Self.decode(halves[1]) : ""
            guard pair.count <= Self.maximumBytes, values.count < Self.maximumCount else {
                throw ProtocolError.oversizedParameter
            }
            let isFirst = values.updateValue(value, forKey: Array(name.utf8)) == nil
            guard isFirst else { throw ProtocolError.repeatedParameter }
        }
    }

    subscript(name: String) -> String? { values[Array(name.utf8)].flatMap { $0.isEmpty ? nil : $0 } }

    func required(_ name: String) throws -> String {
        guard let value = self[name] else { throw ProtocolError.invalidParameter(name) }
        return value
    }

    private static func decode(_ bytes: some Collection<UInt8>) throws -> String {
        let blank = bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        guard let text = String(validating: blank, as: UTF8.self)?.removingPercentEncoding, !text.utf8.contains(0)
        else {
            throw ProtocolError.brokenEncoding
        }
        return text
    }
}
