import CZlib
import OAuth

/// A way in which a server compresses the body of an answer
/// ([RFC 9110 §8.4.1](https://www.rfc-editor.org/rfc/rfc9110#section-8.4.1)).
private enum ContentCoding {
    case gzip
    case deflate

    enum Failure: Error {
        case damaged
        case tooLarge
    }

    init?(_ name: String) {
        if ["gzip", "x-gzip"].contains(where: { $0.hasSameBytes(as: name) }) {
            self = .gzip
        } else if name.hasSameBytes(as: "deflate") {
            self = .deflate
        } else {
            return nil
        }
    }

    /// Undoes it; what comes out is at most `limit` bytes, however little goes in.
    func decoded(_ body: Secret, limit: Int) throws(Failure) -> Secret {
        try body.withUnsafeBytes { bytes throws(Failure) in
            guard !bytes.isEmpty else { return body }
            var inflation = try Inflation(bytes, windowBits: windowBits(for: bytes), limit: limit)
            return try inflation.run()
        }
    }

    /// Which format zlib is to expect: `deflate` means zlib's own, and some servers send it without its first bytes.
    private func windowBits(for bytes: UnsafeRawBufferPointer) -> Int32 {
        switch self {
        case .gzip: return 16 + MAX_WBITS
        case .deflate:
            let isWrapped = bytes.count > 1 && bytes[0] & 15 == 8 && (Int(bytes[0]) << 8 + Int(bytes[1])) % 31 == 0
            return isWrapped ? MAX_WBITS : -MAX_WBITS
        }
    }
}

/// One compressed body on its way to a buffer that is wiped.
private struct Inflation: ~Copyable {
    /// It stays where it is, as zlib remembers its place.
    private let stream: UnsafeMutablePointer<z_stream>
    private let limit: Int
    private var output: UnsafeMutableRawBufferPointer
    private var count = 0

    init(_ input: UnsafeRawBufferPointer, windowBits: Int32, limit: Int) throws(ContentCoding.Failure) {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        self.limit = limit
        output = .allocate(byteCount: min(limit, 4 * input.count) + 1, alignment: 1)
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: Bytef.self).baseAddress)
        stream.pointee.avail_in = uInt(input.count)
        let size = Int32(MemoryLayout<z_stream>.size)
        guard inflateInit2_(stream, windowBits, ZLIB_VERSION, size) == Z_OK else { throw .damaged }
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
        wipe(output)
        output.deallocate()
    }

    mutating func run() throws(ContentCoding.Failure) -> Secret {
        while true {
            let result = step()
            guard count <= limit else { throw .tooLarge }
            switch result {
            // A file of gzip may be followed by another, or by padding.
            case Z_STREAM_END where stream.pointee.avail_in > 0 && stream.pointee.next_in.pointee == 0x1F:
                guard inflateReset(stream) == Z_OK else { throw .damaged }
            case Z_STREAM_END: return Secret(copying: UnsafeRawBufferPointer(rebasing: output[..<count]))
            case Z_OK where count == output.count, Z_BUF_ERROR where count == output.count: grow()
            case Z_OK where stream.pointee.avail_in > 0: continue
            default: throw .damaged
            }
        }
    }

    private mutating func step() -> Int32 {
        let rest = UnsafeMutableRawBufferPointer(rebasing: output[count...])
        stream.pointee.next_out = rest.bindMemory(to: Bytef.self).baseAddress
        stream.pointee.avail_out = uInt(rest.count)
        let result = inflate(stream, Z_NO_FLUSH)
        count = output.count - Int(stream.pointee.avail_out)
        return result
    }

    /// Makes room for one byte more than the limit at most.
    private mutating func grow() {
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: min(limit, 2 * output.count) + 1, alignment: 1)
        larger.copyMemory(from: UnsafeRawBufferPointer(output))
        wipe(output)
        output.deallocate()
        output = larger
    }
}

extension HTTPResponse {
    /// The answer as it was before something on the way compressed it, which was not asked for: who cannot read the
    /// answer of a token endpoint has lost the session.
    ///
    /// - Throws: ``HTTPTransportError/Code/undecodable``, ``HTTPTransportError/Code/tooLarge``.
    func decoded(limit: Int, host: String) throws(HTTPTransportError) -> HTTPResponse {
        let names = headers.values(of: "content-encoding").flatMap { $0.parts(separatedBy: ",") }.map(\.folded)
            .filter { !$0.isEmpty && !$0.hasSameBytes(as: "identity") }
        guard !names.isEmpty, body.count > 0 else { return self }
        if body.beginsAsObject { return holding(body) }
        var body = body
        for name in names.reversed() {
            let shown = String(decoding: name.utf8.filter(\.isOfCoding).prefix(20), as: UTF8.self)
            guard let coding = ContentCoding(name), names.count < 3 else {
                throw .undecodable(host: host, coding: shown)
            }
            do {
                body = try coding.decoded(body, limit: limit)
            } catch {
                switch error {
                case .damaged: throw .undecodable(host: host, coding: shown)
                case .tooLarge: throw .tooLarge(host: host, limit: limit)
                }
            }
        }
        return holding(body)
    }

    /// The same with a body that is not compressed.
    private func holding(_ body: Secret) -> HTTPResponse {
        var headers = headers
        // Both are about what was sent.
        headers["content-encoding"] = nil
        headers["content-length"] = nil
        return HTTPResponse(status: status, headers: headers, body: body)
    }
}

extension Secret {
    /// Whether it begins as an object of JSON does, perhaps behind a byte order mark: what is compressed begins with
    /// other bytes, so a header that calls this compressed is wrong.
    fileprivate var beginsAsObject: Bool {
        withUnsafeBytes { bytes in
            let text = bytes.dropFirst(bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0)
            return text.first { !" \t\r\n".utf8.contains($0) } == UInt8(ascii: "{")
        }
    }
}

extension UInt8 {
    /// Whether the name of a coding, in small letters, has it.
    fileprivate var isOfCoding: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"): true
        default: false
        }
    }
}
