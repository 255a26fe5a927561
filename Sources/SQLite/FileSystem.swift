import CSQLite

#if canImport(Darwin)
import Darwin
#endif

/// File systems that SQLite's write-ahead log must not be used on.
package enum FileSystem {
    /// The name of the network file system that `path` is on; nil if it is on another kind, or does not exist.
    ///
    /// Network file systems promise locks and shared memory that do not hold across machines.
    package static func networkName(of path: String) -> String? {
        var status = statfs()
        guard statfs(path, &status) == 0 else { return nil }
        #if canImport(Darwin)
        guard status.f_flags & UInt32(MNT_LOCAL) == 0 else { return nil }
        return withUnsafeBytes(of: status.f_fstypename) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        #else
        return names[UInt32(truncatingIfNeeded: status.f_type)]
        #endif
    }

    #if !canImport(Darwin)
    /// By the magic numbers of `statfs(2)`.
    private static let names: [UInt32: String] = [
        0x6969: "NFS", 0x517B: "SMB", 0xFE53_4D42: "SMB", 0xFF53_4D42: "CIFS", 0x0102_1997: "9p",
        0x5346_414F: "AFS", 0x7375_7245: "Coda", 0x0BD0_0BD0: "Lustre", 0x00C3_6400: "Ceph",
    ]
    #endif
}
