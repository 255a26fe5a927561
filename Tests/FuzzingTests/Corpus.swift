import Foundation
import Fuzzing

/// The inputs that are kept beside the tests.
enum Corpus {
    /// The inputs of a kind, by the names of their files.
    static func inputs(_ kind: InputKind) throws -> [(name: String, bytes: [UInt8])] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "Corpus/\(kind.rawValue)")
        return try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted().map { name in
            (name, [UInt8](try Data(contentsOf: folder.appending(path: name))))
        }
    }
}
