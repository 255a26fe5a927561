/// The parameters of one query or form body, each present at most once (RFC 6749 section 3.1).
struct Parameters: Hashable, Sendable {
    private(set) var values: [String: String] = [:]

    static let empty = Parameters()
    static let maximumCount = 64
    static let maximumBytes = 16_384

    private init() {}

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

    /// The parameter split at blanks; `nil` when absent.
    func list(_ name: String) -> [String]? {
        self[name].map { $0.split(separator: " ").map(String.init) }
    }

    func requiredList(_ name: String) throws -> [String] {
        try required(name).split(separator: " ").map(String.init)
    }

    private static func decode(_ bytes: some Collection<UInt8>) throws -> String {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(hexadecimal), let low = rest.next().flatMap(hexadecimal) else {
                    throw ProtocolError.brokenEncoding
                }
                decoded.append(high << 4 | low)
            default: decoded.append(byte)
            }
        }
        guard let text = String(validating: decoded, as: UTF8.self), !text.contains("\0") else {
            throw ProtocolError.brokenEncoding
        }
        return text
    }

    private static func hexadecimal(_ byte: UInt8) -> UInt8? {
        Character(UnicodeScalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
