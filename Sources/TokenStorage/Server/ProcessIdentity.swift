import Database

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A process of a machine, which is told from a later one of the same number by the time of its start.
struct ProcessIdentity: Hashable {
    /// The running system and the name space of its process numbers: containers have one each.
    let machine: String
    let id: Int64

    /// In the system's own unit; 0 where it does not tell.
    let start: Int64

    static let own = ProcessIdentity(
        machine: Self.thisMachine,
        id: Int64(getpid()),
        start: Self.start(of: Int64(getpid())) ?? 0
    )

    init(machine: String, id: Int64, start: Int64) {
        (self.machine, self.id, self.start) = (machine, id, start)
    }

    /// What stands in three columns of a row.
    init(_ row: Row, from column: CInt) {
        self.init(machine: row.text(column), id: row.integer(column + 1), start: row.integer(column + 2))
    }

    /// Whether the process was of this machine, and has ended.
    var isGone: Bool {
        guard machine == Self.thisMachine, !machine.isEmpty else { return false }
        guard kill(pid_t(truncatingIfNeeded: id), 0) == 0 || errno == EPERM else { return true }
        guard start != 0, let now = Self.start(of: id) else { return false }
        return now != start
    }

    #if os(Linux)
    private static let thisMachine: String = {
        let boot = String(decoding: line(of: "/proc/sys/kernel/random/boot_id"), as: UTF8.self)
        var space = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/self/ns/pid", &space, space.count - 1)
        guard !boot.isEmpty, count > 0 else { return "" }
        return boot + " " + String(decoding: space.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    /// The 22nd field of a process's state; the second one, its name, may hold spaces and brackets.
    private static func start(of id: Int64) -> Int64? {
        // By bytes, as all that wait for a refresh ask this again and again.
        let line = line(of: "/proc/\(id)/stat")
        guard let nameEnd = line.lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = line[(nameEnd + 1)...].split(separator: UInt8(ascii: " "))
        return fields.count > 19 ? Int64(String(decoding: fields[19], as: UTF8.self)) : nil
    }

    /// The beginning of the first line of a small file of the kernel; empty where it cannot be read.
    private static func line(of path: String) -> ArraySlice<UInt8> {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = read(descriptor, &bytes, bytes.count)
        return bytes.prefix(max(0, count)).prefix { $0 != UInt8(ascii: "\n") }
    }
    #else
    /// A process of another machine may have the same number, and nothing here tells one system from another.
    private static let thisMachine = ""

    private static func start(of id: Int64) -> Int64? { nil }
    #endif
}
