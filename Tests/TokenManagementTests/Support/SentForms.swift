import HTTPTransport
import OAuth
import Synchronization

/// The forms that a transport was asked to send.
final class SentForms: Sendable {
    private let forms = Mutex<[[String: String]]>([])

    func keep(_ request: HTTPRequest) {
        guard let body = request.body?.reveal() else { return }
        let pairs = body.split(separator: "&").map { $0.split(separator: "=", maxSplits: 1) }
        let form = Dictionary(pairs.map { (String($0[0]), $0.count > 1 ? Self.decode($0[1]) : "") }) { $1 }
        forms.withLock { $0.append(form) }
    }

    func last(_ name: String) -> String { forms.withLock { $0.last?[name] } ?? "" }

    private static func decode(_ text: Substring) -> String {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
                continue
            }
            bytes.append(UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16) ?? 0)
            rest = rest.dropFirst(2)
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
