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
        let boot = text(of: "/proc/sys/kernel/random/boot_id")
        var space = [CChar](repeating: 0, count: 64)
        let count = readlink("/proc/self/ns/pid", &space, space.count - 1)
        guard !boot.isEmpty, count > 0 else { return "" }
        return boot + " " + String(decoding: space.prefix(count).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }()

    /// The 22nd field of a process's state; the second one, its name, may hold spaces and brackets.
    private static func start(of id: Int64) -> Int64? {
        let fields = text(of: "/proc/\(id)/stat").split(separator: ")").last?.split(separator: " ") ?? []
        return fields.count > 19 ? Int64(fields[19]) : nil
    }

    /// The beginning of a small file of the kernel, without the line's end; empty where it cannot be read.
    private static func text(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1_024)
        let count = read(descriptor, &bytes, bytes.count)
        guard count > 0 else { return "" }
        return String(decoding: bytes.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    }
    #else
    /// A process of another machine may have the same number, and nothing here tells one system from another.
    private static let thisMachine = ""

    private static func start(of id: Int64) -> Int64? { nil }
    #endif
}
