import HTTPTransport
import OAuth

/// An issuer that answers every request alike: with a status, header fields, an empty line and a body; where there is
/// no empty line, with a body alone.
struct CannedIssuer: HTTPTransport {
    private let response: HTTPResponse

    init(_ bytes: [UInt8]) {
        let separator = [UInt8(ascii: "\n"), UInt8(ascii: "\n")]
        guard let end = bytes.firstRange(of: separator) else {
            response = HTTPResponse(status: 200, body: Self.body(bytes[...]))
            return
        }
        let lines = String(decoding: bytes[..<end.lowerBound], as: UTF8.self).split(separator: "\n")
        let fields = lines.dropFirst().compactMap { line -> (name: String, value: String)? in
            guard let colon = line.firstIndex(of: ":") else { return nil }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            return (String(line[..<colon]), String(value))
        }
        response = HTTPResponse(
            status: lines.first.flatMap { Int($0) } ?? 200,
            headers: HTTPHeaders(fields),
            body: Self.body(bytes[end.upperBound...])
        )
    }

    /// The body, where it is an object.
    var object: JSON.Object? { response.body.withUnsafeBytes { try? JSON(parsing: $0).object } }

    private static func body(_ bytes: ArraySlice<UInt8>) -> Secret {
        bytes.withUnsafeBytes { Secret(copying: $0) }
    }

    func send(_ request: HTTPRequest, limits: HTTPLimits) async throws -> HTTPResponse { response }
}
