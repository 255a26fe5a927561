public import Foundation

/// What the files of a directory are at a moment: names, bytes, times of change.
public struct DirectorySnapshot: Equatable, CustomStringConvertible {
    private struct File: Equatable {
        let bytes: Data
        let changed: Date?
        let permissions: Int?
    }

    private var files: [String: File] = [:]
    private let changed: Date?

    public init(_ directory: String) throws {
        let manager = FileManager.default
        for name in try manager.contentsOfDirectory(atPath: directory) {
            let path = directory + "/" + name
            let attributes = try manager.attributesOfItem(atPath: path)
            let isRegular = attributes[.type] as? FileAttributeType == .typeRegular
            files[name] = File(
                bytes: isRegular ? try Data(contentsOf: URL(filePath: path)) : Data(),
                changed: attributes[.modificationDate] as? Date,
                permissions: attributes[.posixPermissions] as? Int
            )
        }
        changed = try manager.attributesOfItem(atPath: directory)[.modificationDate] as? Date
    }

    public var names: [String] { files.keys.sorted() }

    /// The bytes of a file, nil if there is none.
    public func bytes(_ name: String) -> Data? { files[name]?.bytes }

    /// The names of the files that hold `text` somewhere.
    public func names(holding text: Data) -> [String] {
        names.filter { files[$0]?.bytes.range(of: text) != nil }
    }

    public var description: String {
        files.sorted { $0.key < $1.key }
            .map { "\($0.key): \($0.value.bytes.count) bytes, \($0.value.changed?.timeIntervalSince1970 ?? 0)" }
            .joined(separator: "; ")
    }
}
