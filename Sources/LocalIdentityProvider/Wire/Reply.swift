import Foundation
import OAuth

/// One answer as plain values, so that a fault can change it.
struct Reply: Sendable {
    var status = 200
    var headers: [String: String] = [:]
    var body: [UInt8] = []
    var cookies: [String] = []
    /// Its text in the audit log; nil means the status.
    var outcome: String?

    /// Members that are nil are left out.
    static func object(_ members: KeyValuePairs<String, JSONValue?>, outcome: String? = nil) -> Reply {
        json(.object(.init(members.compactMap { name, value in value.map { (name, $0) } })), outcome: outcome)
    }

    static func json(_ value: JSONValue, status: Int = 200, outcome: String? = nil) -> Reply {
        Reply(status: status, headers: ["content-type": json], body: value.encoded, outcome: outcome)
    }

    private static let json = "application/json; charset=utf-8"

    static func found(_ location: String, outcome: String) -> Reply {
        Reply(status: 302, headers: ["location": location], outcome: outcome)
    }

    static func error(_ error: ProtocolError, correlationID: String, at now: Date) -> Reply {
        var members = error.members
        members["error"] = .string(error.error)
        members["suberror"] = error.suberror.map(JSONValue.string)
        members["error_description"] = .string(error.text)
        members["error_codes"] = [.integer(error.number)]
        members["correlation_id"] = .string(correlationID)
        members["timestamp"] = .string(now.formatted(.iso8601))
        var reply = json(JSONValue(members), status: error.status, outcome: error.description)
        reply.headers.merge(error.headers) { $1 }
        return reply
    }
}

/// An error answer of RFC 6749 section 5.2 with the fields that native authentication adds.
struct ProtocolError: Error, Hashable, CustomStringConvertible {
    let error: String
    let number: Int
    let text: String
    let suberror: String?
    let status: Int
    var members: [String: JSONValue] = [:]
    var headers: [String: String] = [:]

    init(_ error: String, _ number: Int, _ text: String, suberror: String? = nil, status: Int = 400) {
        self.error = error
        self.number = number
        self.text = text
        self.suberror = suberror
        self.status = status
    }

    var description: String { suberror.map { "\(error)/\($0)" } ?? error }

    func with(_ members: [String: JSONValue] = [:], headers: [String: String] = [:]) -> Self {
        var error = self
        error.members = members
        error.headers = headers
        return error
    }
}
