/// A directory seen a second time, through a mount that cannot be written, or one of another file system.
public final class ReadOnlyMount: Sendable {
    private let place: TemporaryDirectory
    public var path: String { place.path }

    /// Whether this process may mount at all.
    public static let isPossible: Bool = {
        guard let source = try? TemporaryDirectory(), let mount = try? ReadOnlyMount(source.path) else { return false }
        mount.end()
        return true
    }()

    public init(_ directory: String) throws {
        place = try TemporaryDirectory()
        try Shell.run("/bin/mount", "--bind", directory, place.path)
        try Shell.run("/bin/mount", "-o", "remount,bind,ro", place.path)
    }

    /// An empty directory on a new file system of a kind that needs no device.
    public init(ofKind kind: String, _ options: String = "mode=0700") throws {
        place = try TemporaryDirectory()
        try Shell.run("/bin/mount", "-t", kind, "-o", options, "none", place.path)
    }

    /// Gives the mount other options, such as more room.
    public func change(_ options: String) throws {
        try Shell.run("/bin/mount", "-o", "remount," + options, place.path)
    }

    public func end() {
        // A mount that stays is seen by the next removal of the directory, which fails.
        _ = try? Shell.run("/bin/umount", place.path)
    }
}
