import ArgumentParser
import TokenStorage

/// The name of a file that a command reads or writes.
enum FileName {
    /// Refuses an empty name, and the address of a server, which may have a password: no message repeats it.
    static func check(_ name: String?, hint: String) throws {
        guard name != "" else { throw ValidationError("FILE is empty", hint: hint) }
        guard name.map(StoreLocation.isMeantAsAddress) != true else {
            throw ValidationError("FILE is the address of a server", hint: "\(hint), and the server with --store")
        }
    }
}
