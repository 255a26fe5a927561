import CZlib
import Foundation
import HTTPTransport
import IssuerSupport
import OAuth
import TestTraits
import Testing

/// Answers that something on the way compressed.
@Suite(.onWaitingThreads)
struct ContentCodingTests {
    private static let limits = HTTPLimits(head: .seconds(40), total: .seconds(40), bodySize: 100_000)
    private static let text = Data(String(repeating: #"{"refresh_token":"rt-1"}"#, count: 300).utf8)

    /// zlib's formats: 31 is gzip, 15 its own, -15 without first bytes.
    private static func compressed(_ data: Data, _ windowBits: Int32 = 31) -> Data {
        let stream = UnsafeMutablePointer<z_stream>.allocate(capacity: 1)
        stream.initialize(to: z_stream())
        defer { stream.deallocate() }
        let size = Int32(MemoryLayout<z_stream>.size)
        deflateInit2_(stream, 9, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
        var input = [UInt8](data)
        var output = [UInt8](repeating: 0, count: Int(deflateBound(stream, uLong(input.count))))
        return input.withUnsafeMutableBufferPointer { input in
            output.withUnsafeMutableBufferPointer { output in
                (stream.pointee.next_in, stream.pointee.avail_in) = (input.baseAddress, uInt(input.count))
                (stream.pointee.next_out, stream.pointee.avail_out) = (output.baseAddress, uInt(output.count))
                deflate(stream, Z_FINISH)
                defer { deflateEnd(stream) }
                return Data(output.prefix(output.count - Int(stream.pointee.avail_out)))
            }
        }
    }

    private static func send(
        _ body: Data,
        _ coding: String,
        _ change: (inout HTTPRequest) -> Void = { _ in }
    ) async throws -> HTTPResponse {
        let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.count)\r\n\(coding)\r\n\r\n"
        let server = try RawServer(Data(head.utf8) + body)
        defer { server.stop() }
        var request = HTTPRequest("GET", server.url)
        change(&request)
        let response = try await AsyncHTTPTransport().send(request, limits: limits)
        let asksForNone = server.requests[0].lowercased().contains("accept-encoding: identity")
        #expect(asksForNone == request.headers.fields.isEmpty)
        return response
    }

    private static func error(_ body: Data, _ coding: String) async -> HTTPTransportError? {
        do {
            _ = try await send(body, coding)
            return nil
        } catch {
            return error as? HTTPTransportError
        }
    }

    @Test(
        arguments: [
            ("Content-Encoding: gzip", 31), ("Content-Encoding: GZip", 31), ("Content-Encoding: x-gzip", 31),
            ("Content-Encoding: deflate", 15), ("Content-Encoding: deflate", -15),
            ("Content-Encoding: identity, gzip", 31), ("Content-Encoding:\r\nContent-Encoding: gzip", 31),
        ] as [(String, Int32)]
    )
    func `no content coding is requested, and a compressed answer is still read`(
        coding: String,
        windowBits: Int32
    ) async throws {
        let response = try await Self.send(Self.compressed(Self.text, windowBits), coding)
        #expect(response.body.reveal() == String(decoding: Self.text, as: UTF8.self))
        #expect(response.headers["content-encoding"] == nil)
        #expect(response.headers["content-length"] == nil)
    }

    @Test(arguments: [0, 1])
    func `a compressed answer whose framing is cut off is whole unless something of it is missing`(
        missing: Int
    ) async throws {
        let body = Self.compressed(Data(#"{"refresh_token":"rt-1"}"#.utf8)).dropLast(20 * missing)
        let head = "HTTP/1.1 200 OK\r\nContent-Length: 500\r\nContent-Encoding: gzip\r\n\r\n"
        let server = try RawServer(Data(head.utf8) + body)
        defer { server.stop() }
        let request = HTTPRequest("POST", server.url)
        let sending = await Task { try await AsyncHTTPTransport().send(request, limits: Self.limits) }.result
        #expect((try? sending.get().body) == (missing == 0 ? Secret(#"{"refresh_token":"rt-1"}"#) : nil))
        #expect(server.requests.count == 1)
    }

    @Test func `gzip members, padding, two codings and an empty body are read`() async throws {
        let half = Self.compressed(Self.text)
        let both = try await Self.send(half + half + Data([0, 0]), "Content-Encoding: gzip")
        #expect(both.body.count == 2 * Self.text.count)
        let twice = try await Self.send(Self.compressed(half), "Content-Encoding: gzip, gzip")
        #expect(twice.body.count == Self.text.count)
        #expect(try await Self.send(Data(), "Content-Encoding: gzip").body.count == 0)
    }

    @Test func `an answer that decompresses beyond the limit is refused`() async throws {
        let bomb = Self.compressed(Data(count: 64 << 20))
        #expect(bomb.count < 100_000)
        for (body, coding) in [(bomb, "gzip"), (Self.compressed(bomb), "gzip, gzip")] {
            guard await Self.error(body, "Content-Encoding: \(coding)")?.limit == 100_000 else {
                throw ExpectationFailure("tooLarge")
            }
        }
        let exact = try await Self.send(Self.compressed(Data(count: 100_000)), "Content-Encoding: gzip")
        #expect(exact.body.count == 100_000)
        let more = await Self.error(Self.compressed(Data(count: 100_001)), "Content-Encoding: gzip")
        #expect(more?.isTransient == false)
    }

    @Test func `a coding that cannot be decoded is an error that may have taken effect`() async throws {
        let good = Self.compressed(Self.text)
        for (body, coding, shown) in [
            (Data("x".utf8), "br", "br"), (good, "zstd", "zstd"), (good.dropLast(20), "gzip", "gzip"),
            (Data("[]".utf8), "gzip", "gzip"), (good, "gzip, gzip, gzip", "gzip"), (good, "e;[2J", "e2j"),
        ] {
            let error = await Self.error(body, "Content-Encoding: \(coding)")
            guard error?.code == .undecodable, error?.reason == shown else {
                Issue.record("\(coding): \(String(describing: error))")
                continue
            }
            #expect(error?.mayHaveTakenEffect == true)
        }
    }

    @Test(arguments: ["none", "utf-8", "gzip", "deflate", "br", "gzip, gzip", "a, b, c, d"], ["", "\u{FEFF} \r\n\t"])
    func `an object of JSON is read although a header says that it is compressed`(
        coding: String,
        start: String
    ) async throws {
        let body = start + #"{"refresh_token":"rt-1"}"#
        let response = try await Self.send(Data(body.utf8), "Content-Encoding: \(coding)")
        #expect(response.body == Secret(body))
        #expect(response.headers["content-encoding"] == nil)
    }

    @Test func `a caller that requests a coding gets the body undecoded`() async throws {
        let body = Self.compressed(Self.text)
        let response = try await Self.send(body, "Content-Encoding: gzip") { $0.headers["accept-encoding"] = "gzip" }
        #expect(response.headers["content-encoding"] == "gzip")
        #expect(response.body.count == body.count)
    }
}
