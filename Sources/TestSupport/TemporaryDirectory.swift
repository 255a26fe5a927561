import Foundation

/// A directory of mode 0700 that is gone when the value is.
public final class TemporaryDirectory: Sendable {
    public let path: String

    /// In memory where the system offers that: what a test waits for most is a disk that synchronizes.
    public init() throws {
        let memory = "/dev/shm"
        let isUsable = access(memory, W_OK | X_OK) == 0
        let parent = isUsable ? memory : FileManager.default.temporaryDirectory.path
        var template = Array((parent + "/tokenstore-XXXXXX").utf8CString)
        guard let made = mkdtemp(&template) else { throw POSIXError(POSIXError.Code(rawValue: errno) ?? .EIO) }
        path = String(cString: made)
    }

    deinit {
        // A leftover of a test run does no harm.
        try? FileManager.default.removeItem(atPath: path)
    }

    /// The path of a file in the directory.
    public func file(_ name: String) -> String { path + "/" + name }
}
