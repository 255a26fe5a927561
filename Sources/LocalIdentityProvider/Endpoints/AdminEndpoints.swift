import Foundation
import HTTPTypes
import OAuth

/// `/admin/…`: test control, which exists only when an admin key was given.
extension ProviderState {
    func admin(_ exchange: Exchange) async throws -> Reply {
        // A request without the header has the empty key.
        guard let adminKey, !adminKey.isEmpty else { throw ProtocolError.unknownRoute }
        let key = exchange.head.headerFields.first { $0.name.canonicalName == "x-admin-key" }?.value ?? ""
        guard Secret(key) == Secret(adminKey) else { throw ProtocolError.adminKey }
        switch (exchange.method, exchange.rest.first ?? "") {
        case (.get, "outbox"): return try encoded(outbox.messages(to: exchange.query["to"]))
        case (.get, "clock"): break
        case (.post, "clock"): try moveClock(JSONValue(parsing: exchange.body))
        case (.get, "faults"): return try encoded(faults.all)
        case (.post, "faults"):
            let fault = try JSONDecoder().decode(Fault.self, from: Data(exchange.body))
            guard Route.allCases.contains(where: { $0.name == fault.route }) else {
                throw ProtocolError.invalidParameter("route")
            }
            if let name = fault.impossibleNumber { throw ProtocolError.invalidParameter(name) }
            faults.add(fault)
            return try encoded(faults.all)
        case (.delete, "faults"): faults.removeAll()
        case (.get, "audit"):
            return try .object([
                "counts": JSONValue(audit.counts.mapValues(JSONValue.integer)), "summary": .string(audit.summary),
                "entries": JSONValue(parsing: encoded(audit.entries).body),
            ])
        case (.delete, "audit"): audit.reset()
        case (.post, "keys"):
            let body = try JSONValue(parsing: exchange.body)
            try await keys.rotate(realm(tenant: body["tenant"]?.text ?? "", policy: body["policy"]?.text))
        default: throw ProtocolError.unknownRoute
        }
        return .object(["now": .integer(Int(clock.now.timeIntervalSince1970))])
    }

    private func moveClock(_ body: JSONValue) throws {
        if let seconds = body["advance"]?.seconds {
            try requireInCalendar(clock.now + TimeInterval(seconds), "advance")
            clock.advance(by: TimeInterval(seconds))
        } else if let now = body["now"]?.seconds {
            try requireInCalendar(Date(unixSeconds: now), "now")
            clock.set(to: Date(unixSeconds: now))
        } else {
            throw ProtocolError.invalidParameter(body["now"] == nil ? "advance" : "now")
        }
    }

    /// Many steps would in the end lead to a time that neither a token nor the `Date` header can name.
    private func requireInCalendar(_ date: Date, _ name: String) throws {
        guard (0...Int64.lastUnixSecond).contains(date.unixSeconds) else { throw ProtocolError.invalidParameter(name) }
    }

    private func encoded(_ value: some Encodable) throws -> Reply {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return Reply(headers: ["content-type": "application/json"], body: Array(try encoder.encode(value)))
    }
}

/// `/api1` and `/api2`: web APIs that accept this provider's access tokens.
extension ProviderState {
    func api(_ exchange: Exchange) async throws -> Reply {
        let name = exchange.rest[0]
        guard let resource = seed.tenants.flatMap(\.resources).first(where: { $0.path == name }) else {
            throw ProtocolError.unknownRoute
        }
        guard let token = try await presentedToken(exchange) else { throw ProtocolError.accessToken(nil) }
        guard let claims = try await claims(of: token)?.claims, claims["aud"]?.text == resource.audience else {
            throw ProtocolError.accessToken("invalid_token")
        }
        let isRead = exchange.method == .get || exchange.method == .head
        let accepted = (isRead ? resource.scopes : resource.scopes.suffix(1)).map(\.value)
        guard !claims.scopes.isDisjoint(with: accepted) else {
            throw ProtocolError.accessToken("insufficient_scope", status: 403)
        }
        switch exchange.rest.dropFirst().first {
        case "notfound": throw ProtocolError.unknownRoute
        case "error": return .json(["error": "server_error"], status: 500)
        case "text": return Reply(headers: ["content-type": "text/plain"], body: Array("all is well\n".utf8))
        case "broken": return Reply(headers: ["content-type": "application/json"], body: Array(#"{"tasks": ["#.utf8))
        case "array": return .json(["first", "second"])
        case "slow": try await Task.sleep(for: .seconds(60))
        default: break
        }
        return .object([
            "api": .string(name), "user": claims["oid"], "client": claims["azp"], "scopes": claims["scp"],
        ])
    }
}
