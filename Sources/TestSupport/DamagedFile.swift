import Foundation

/// A file whose bytes a test changes.
public struct DamagedFile {
    public let path: String

    public init(_ path: String) { self.path = path }

    public func bytes() throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    /// Replaces the content in place: same file, same mode.
    public func write(_ bytes: some Sequence<UInt8>) throws {
        let handle = try FileHandle(forWritingTo: URL(filePath: path))
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: Data(bytes))
        try handle.close()
    }

    /// Puts a new file in the place of the old one, which programs that have it open go on seeing.
    public func replace(with bytes: [UInt8]) throws {
        try Data(bytes).write(to: URL(filePath: path), options: .atomic)
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
    }

    public func change(_ body: (inout [UInt8]) -> Void) throws {
        var bytes = try bytes()
        body(&bytes)
        try write(bytes)
    }
}
