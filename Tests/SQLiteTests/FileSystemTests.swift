#if os(Linux)
import SQLite
import TestSupport
import Testing

/// A write-ahead log is used only where locks and shared memory are known to hold.
struct FileSystemTests {
    @Test(
        arguments: [
            0xEF53, 0x5846_5342, 0x9123_683E, 0xF2F5_2010, 0x0102_1994, 0x8584_58F6, 0x794C_7630, 0x2FC1_2FC1,
            0xCA45_1A4E,
        ] as [UInt32]
    )
    func `a local file system is accepted`(magic: UInt32) {
        #expect(FileSystem.refusedName(ofMagic: magic) == nil)
    }

    @Test(
        arguments: [
            (0x6573_5546, "FUSE"), (0x4750_4653, "GPFS"), (0x6969, "NFS"), (0xFE53_4D42, "SMB"), (0x0102_1997, "9p"),
            (0x0BD0_0BD0, "Lustre"), (0x00C3_6400, "Ceph"), (0x786F_4256, "VirtualBox"), (0x1983_0326, "BeeGFS"),
            (0x1234_5678, "type 0x12345678"),
        ] as [(UInt32, String)]
    )
    func `network, host, FUSE and unknown file systems are refused by name`(magic: UInt32, name: String) {
        #expect(FileSystem.refusedName(ofMagic: magic) == name)
    }

    @Test func `a temporary directory is on a local file system, a missing one on none`() throws {
        let directory = try TemporaryDirectory()
        #expect(FileSystem.refusedName(of: directory.path) == nil)
        #expect(FileSystem.refusedName(of: directory.file("absent")) == nil)
    }
}
#endif
