import HTTPTypes

/// One answer as plain values, so that a fault can change it.
struct Reply: Sendable {
    var status: Int
    var headers: [String: String]
    var body: [UInt8]
    /// The `Set-Cookie` lines.
    var cookies: [String] = []
    /// What the audit log says of it.
    var outcome: String

    init(status: Int = 200, headers: [String: String] = [:], body: [UInt8] = [], outcome: String? = nil) {
        self.status = status
        self.headers = headers
        self.body = body
        self.outcome = outcome ?? "\(status)"
    }

    static func json(_ value: JSON, status: Int = 200, outcome: String? = nil) throws -> Reply {
        Reply(
            status: status,
            headers: ["content-type": "application/json; charset=utf-8"],
            body: try value.encoded,
            outcome: outcome
        )
    }

    static func found(_ location: String, outcome: String = "302") -> Reply {
        Reply(status: 302, headers: ["location": location], outcome: outcome)
    }

    init(_ error: ProtocolError, correlationID: String, timestamp: String) throws {
        var members = error.extra
        members["error"] = .string(error.error)
        if let suberror = error.suberror { members["suberror"] = .string(suberror) }
        members["error_description"] = .string(error.text)
        members["error_codes"] = [.integer(error.number)]
        members["correlation_id"] = .string(correlationID)
        members["timestamp"] = .string(timestamp)
        self = try .json(.object(members), status: error.status, outcome: error.description)
        headers.merge(error.headers) { _, last in last }
    }
}
