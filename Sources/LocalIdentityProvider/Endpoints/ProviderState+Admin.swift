import Foundation
import HTTPTypes
import OAuth

/// `/admin/…`: test control, which exists only when an admin key was given.
extension ProviderState {
    func admin(_ exchange: Exchange) async throws -> Reply {
        guard let adminKey else { throw ProtocolError.unknownRoute }
        let key = exchange.head.headerFields.first { $0.name.canonicalName == "x-admin-key" }?.value ?? ""
        guard Secret(key) == Secret(adminKey) else { throw ProtocolError.adminKey }
        switch (exchange.method, exchange.rest.first ?? "") {
        case (.get, "outbox"): return try encoded(outbox.messages(to: exchange.query["to"]))
        case (.get, "clock"): break
        case (.post, "clock"): try moveClock(JSON(parsing: exchange.body))
        case (.get, "faults"): return try encoded(faults.all)
        case (.post, "faults"):
            let fault = try JSONDecoder().decode(Fault.self, from: Data(exchange.body))
            guard Route.allCases.contains(where: { $0.name == fault.route }) else {
                throw ProtocolError.invalidParameter("route")
            }
            faults.add(fault)
            return try encoded(faults.all)
        case (.delete, "faults"): faults.removeAll()
        case (.get, "audit"):
            return try .object([
                "counts": .object(audit.counts.mapValues(JSON.integer)), "summary": .string(audit.summary),
                "entries": JSON(parsing: encoded(audit.entries).body),
            ])
        case (.delete, "audit"): audit.reset()
        case (.post, "keys"):
            let body = try JSON(parsing: exchange.body)
            try await keys.rotate(realm(tenant: body["tenant"]?.text ?? "", policy: body["policy"]?.text))
        default: throw ProtocolError.unknownRoute
        }
        return try .object(["now": .integer(Int(clock.now.timeIntervalSince1970))])
    }

    private func moveClock(_ body: JSON) throws {
        if let seconds = body["advance"]?.whole {
            clock.advance(by: TimeInterval(seconds))
        } else if let now = body["now"]?.whole {
            clock.set(to: Date(timeIntervalSince1970: TimeInterval(now)))
        } else {
            throw ProtocolError.invalidParameter("advance")
        }
    }

    private func encoded(_ value: some Encodable) throws -> Reply {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return Reply(headers: ["content-type": "application/json"], body: Array(try encoder.encode(value)))
    }
}
