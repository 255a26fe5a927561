import Foundation
import HTTPTypes
import OAuth

/// `/admin/…`: test control, which exists only when an admin key was given.
struct AdminEndpoint: Sendable {
    let state: ProviderState

    func respond(_ exchange: Exchange) async throws -> Reply {
        guard let expected = state.adminKey else { throw ProtocolError.unknownRoute }
        let key = exchange.headers.first { $0.name.canonicalName == "x-admin-key" }?.value ?? ""
        guard Secret(key) == Secret(expected) else { throw ProtocolError.adminKey }
        switch (exchange.method, exchange.rest.first ?? "") {
        case (.get, "outbox"): return try encoded(state.outbox.messages(to: exchange.query["to"]))
        case (.get, "clock"): return try clock()
        case (.post, "clock"): return try moveClock(try JSON(parsing: exchange.body))
        case (.get, "faults"): return try encoded(state.faults.all)
        case (.post, "faults"): return try addFault(exchange.body)
        case (.delete, "faults"):
            state.faults.removeAll()
            return try .json([:])
        case (.get, "audit"): return try audit()
        case (.delete, "audit"):
            state.audit.reset()
            return try .json([:])
        case (.post, "keys"): return try await rotateKeys(try JSON(parsing: exchange.body))
        default: throw ProtocolError.unknownRoute
        }
    }

    private func clock() throws -> Reply {
        try .json(["now": .integer(Int(state.clock.now.timeIntervalSince1970))])
    }

    private func moveClock(_ body: JSON) throws -> Reply {
        if let seconds = body["advance"]?.whole {
            state.clock.advance(by: TimeInterval(seconds))
        } else if let now = body["now"]?.whole {
            state.clock.set(to: Date(timeIntervalSince1970: TimeInterval(now)))
        } else {
            throw ProtocolError.invalidParameter("advance")
        }
        return try clock()
    }

    private func addFault(_ body: [UInt8]) throws -> Reply {
        let fault = try JSONDecoder().decode(Fault.self, from: Data(body))
        guard Route.allCases.contains(where: { $0.name == fault.route }) else {
            throw ProtocolError.invalidParameter("route")
        }
        state.faults.add(fault)
        return try encoded(state.faults.all)
    }

    private func audit() throws -> Reply {
        try .json([
            "counts": .object(state.audit.counts.mapValues(JSON.integer)),
            "summary": .string(state.audit.summary),
            "entries": try JSON(parsing: encoded(state.audit.entries).body),
        ])
    }

    private func rotateKeys(_ body: JSON) async throws -> Reply {
        guard let tenant = body["tenant"]?.text else { throw ProtocolError.invalidParameter("tenant") }
        try await state.keys.rotate(state.realm(tenant: tenant, policy: body["policy"]?.text))
        return try .json([:])
    }

    private func encoded(_ value: some Encodable) throws -> Reply {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        return Reply(headers: ["content-type": "application/json"], body: Array(try encoder.encode(value)))
    }
}
