import Foundation
import TokenStorage

extension StorePath {
    /// How many callers in this process hold a lock of the store or wait for one.
    var openLocks: Int {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count { descriptor in
                // Another thread may have closed it meanwhile.
                (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")) == lock
            }
        }
    }
}
