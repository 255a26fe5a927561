#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The file in which libpq looks for a password that neither the address nor the environment gives.
struct PasswordFile {
    /// nil where a password is given.
    let path: String?
    private var status: stat?

    init(of address: ServerAddress) {
        // An empty password is none.
        guard address.secrets["password"].map(\.text.isEmpty) ?? true else {
            path = nil
            return
        }
        let home = ProcessEnvironment.variable("HOME") ?? ProcessEnvironment.recordedHome
        let named = address.settings["passfile"].flatMap { $0.isEmpty ? nil : $0 }
        path = named ?? home.map { $0 + "/.pgpass" }
        var found = stat()
        if let path, stat(path, &found) == 0 { status = found }
    }

    /// Whether it is a file that others than its owner may use, so that libpq does not read it.
    var isOpenToOthers: Bool { status.map { $0.st_mode & S_IFMT == S_IFREG && $0.st_mode & 0o077 != 0 } ?? false }

    /// Whether libpq would complain of it and go on without it.
    var isPassedOver: Bool { status.map { $0.st_mode & S_IFMT != S_IFREG || $0.st_mode & 0o077 != 0 } ?? false }
}
