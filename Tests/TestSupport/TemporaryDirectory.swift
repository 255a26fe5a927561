import Foundation

/// A directory of mode 0700 that is gone when the value is.
public final class TemporaryDirectory: Sendable {
    public let path: String

    public init() throws {
        var template = Array((FileManager.default.temporaryDirectory.path + "/tokenstore-XXXXXX").utf8CString)
        guard let made = mkdtemp(&template) else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }
        path = String(cString: made)
    }

    deinit {
        // A leftover of a test run harms nobody.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in the directory.
    public func file(_ name: String) -> String { path + "/" + name }
}
