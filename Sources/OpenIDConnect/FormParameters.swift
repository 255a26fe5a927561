public import OAuth

/// The parameters of a form body, in order ([RFC 6749 appendix B](https://www.rfc-editor.org/rfc/rfc6749#appendix-B)).
public struct FormParameters: Sendable {
    private var parameters: [(name: String, value: Secret)] = []
    private(set) var secrets: [Secret] = []

    public init() {}

    /// Appends a parameter; nil appends nothing.
    public mutating func append(_ name: String, _ value: String?) {
        if let value { parameters.append((name, Secret(value))) }
    }

    public mutating func append(_ name: String, _ value: Secret?) {
        guard let value else { return }
        parameters.append((name, value))
        if value.count > 0 { secrets.append(value) }
    }

    /// The body as `application/x-www-form-urlencoded`, with everything escaped but unreserved characters.
    package var encoded: Secret {
        var bytes: [UInt8] = []
        // Growing would leave copies of what was written so far in freed memory.
        bytes.reserveCapacity(parameters.reduce(0) { $0 + 3 * ($1.name.utf8.count + $1.value.count) + 2 })
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        for (name, value) in parameters {
            if !bytes.isEmpty { bytes.append(UInt8(ascii: "&")) }
            for byte in name.utf8 { Self.append(byte, to: &bytes) }
            bytes.append(UInt8(ascii: "="))
            value.withUnsafeBytes { for byte in $0 { Self.append(byte, to: &bytes) } }
        }
        return bytes.withUnsafeBytes { Secret(copying: $0) }
    }

    private static func append(_ byte: UInt8, to bytes: inout [UInt8]) {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "~"):
            bytes.append(byte)
        case UInt8(ascii: " "): bytes.append(UInt8(ascii: "+"))
        default:
            bytes.append(UInt8(ascii: "%"))
            bytes.append(digits[Int(byte >> 4)])
            bytes.append(digits[Int(byte & 15)])
        }
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}
