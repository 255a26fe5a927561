import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A key in a file that a service manager provides: 32 bytes, or their text.
struct CredentialFile {
    /// A name under `$CREDENTIALS_DIRECTORY`, or an absolute path.
    let name: String
    let environment: [String: String]

    func load() throws(SealingError) -> KeyEncryptionKey {
        let path = try path
        let absent = "the credential \(path) is missing; provide it with LoadCredential= in the unit, or as a file"
        // Links are followed: container platforms provide secrets as links. Without O_NONBLOCK a FIFO would hang.
        let file = try OpenFile(path, O_RDONLY | O_NONBLOCK, absent: absent)
        let status = try file.status()
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .keyInsecure("the credential \(path) is no regular file; name one with --key credential:/PATH")
        }
        // Root may own it and a group may read it: that is how systemd hands credentials to a service.
        guard status.st_mode & 0o007 == 0 else {
            throw .keyInsecure(
                "everyone may use the credential \(path); run 'chmod o-rwx \(path.shellWord)', or set its mode to 0400"
            )
        }
        guard let contents = try file.contents(limit: 1024),
            let bytes = contents.count == KeyEncryptionKey.byteCount ? contents : KeyText.decode(contents)
        else {
            throw .keyMalformed(
                "the credential \(path) is no key; it must be 32 bytes, or base64 or hexadecimal text of 32 bytes"
            )
        }
        return KeyEncryptionKey(bytes: bytes)
    }

    private var path: String {
        get throws(SealingError) {
            if PathParts.isAbsolute(name) { return name }
            guard let directory = environment["CREDENTIALS_DIRECTORY"], !directory.isEmpty else {
                throw .keyUnavailable(
                    """
                    CREDENTIALS_DIRECTORY is not set, so that there are no credentials; run as a systemd service with \
                    LoadCredential=\(name):PATH, or name the file with --key credential:/PATH
                    """
                )
            }
            return directory + "/" + name
        }
    }
}
