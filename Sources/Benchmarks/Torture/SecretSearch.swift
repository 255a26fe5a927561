#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Looks for planted bytes, as they are and in the encodings that a log or a database might give them.
struct SecretSearch {
    /// By their first eight bytes.
    private var patterns: [UInt64: [[UInt8]]] = [:]

    /// How many places have been searched.
    private(set) var searches = 0

    /// Plants a token: its parts must be nowhere, since half a token in a log is half a token too many.
    mutating func plant(_ secret: String) {
        let bytes = Array(secret.utf8)
        for start in [bytes.count / 4, bytes.count / 2, bytes.count - 40] {
            let part = Array(bytes[start..<start + 32])
            plant(part)
            plant(Array(part.map { String($0, radix: 16) }.joined().utf8))
            for shift in 0..<3 {
                // Without the ends, which depend on what stands beside the secret.
                let encoded = Data(part.dropFirst(shift)).base64EncodedString()
                plant(Array(encoded.utf8.dropLast(6)))
            }
        }
    }

    mutating func plant(_ bytes: [UInt8]) {
        patterns[bytes.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }, default: []].append(bytes)
    }

    /// The files under `directory` that hold something planted.
    mutating func leaks(in directory: String) throws -> [String] {
        var leaks: [String] = []
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory) {
            let path = directory + "/" + name
            guard let bytes = FileManager.default.contents(atPath: path) else { continue }
            searches += 1
            if holdsSecret(bytes) { leaks.append(name) }
        }
        return leaks
    }

    mutating func isLeaked(by text: String) -> Bool {
        searches += 1
        return holdsSecret(Data(text.utf8))
    }

    private func holdsSecret(_ bytes: Data) -> Bool {
        bytes.withUnsafeBytes { hay in
            guard hay.count >= 8 else { return false }
            for offset in 0...hay.count - 8 {
                guard let found = patterns[hay.loadUnaligned(fromByteOffset: offset, as: UInt64.self)] else { continue }
                if found.contains(where: { hay[offset...].starts(with: $0) }) { return true }
            }
            return false
        }
    }
}
