import Foundation

/// The parameters of one query or form body, each present at most once (RFC 6749 section 3.1).
struct Parameters: Sendable {
    private static let maximumCount = 64
    private static let maximumBytes = 16_384

    private var values: [String: String] = [:]

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
            guard values.updateValue(value, forKey: name) == nil else { throw ProtocolError.repeatedParameter }
        }
    }

    subscript(name: String) -> String? { values[name].flatMap { $0.isEmpty ? nil : $0 } }

    func required(_ name: String) throws -> String {
        guard let value = self[name] else { throw ProtocolError.invalidParameter(name) }
        return value
    }

    private static func decode(_ bytes: some Collection<UInt8>) throws -> String {
        let blank = bytes.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }
        guard let text = String(validating: blank, as: UTF8.self)?.removingPercentEncoding, !text.contains("\0") else {
            throw ProtocolError.brokenEncoding
        }
        return text
    }
}
