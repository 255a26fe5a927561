import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A document read whole; it holds tokens, so its memory is wiped when it goes.
///
/// Read, not mapped: a mapped file that another process cuts short would kill this one.
final class InputDocument {
    private static let sizeLimit = 1 << 30

    private let name: String
    private var memory: UnsafeMutableRawBufferPointer
    private var count = 0

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    /// Reads a file, or standard input for `-`.
    init(_ path: String) throws {
        name = path == "-" ? "standard input" : path
        memory = .allocate(byteCount: 1 << 16, alignment: 16)
        let descriptor = path == "-" ? STDIN_FILENO : systemOpen(path, O_RDONLY)
        guard descriptor >= 0 else { throw unreadable() }
        defer { if descriptor != STDIN_FILENO { close(descriptor) } }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw unreadable() }
        guard status.st_mode & S_IFMT != S_IFDIR else {
            throw CommandFailure(.failure, "\(name) is a directory", "name the cache file in it")
        }
        if status.st_size > 0 { try grow(to: Int(status.st_size) + 1) }
        try readToEnd(descriptor)
        guard count > 0 else {
            throw CommandFailure(.failure, "\(name) is empty", "name a file that holds an MSAL cache")
        }
    }

    private func readToEnd(_ descriptor: Int32) throws {
        while true {
            if count == memory.count { try grow(to: memory.count * 2) }
            let free = UnsafeMutableRawBufferPointer(rebasing: memory[count...])
            let received = systemRead(descriptor, free.baseAddress, free.count)
            if received == 0 { return }
            guard received > 0 || errno == EINTR else { throw unreadable() }
            count += max(0, received)
        }
    }

    private func grow(to size: Int) throws {
        guard size <= Self.sizeLimit else {
            throw CommandFailure(.failure, "\(name) is larger than 1 GB", "name a file that holds an MSAL cache")
        }
        guard size > memory.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 16)
        larger.copyMemory(from: bytes)
        wipe(memory)
        memory.deallocate()
        memory = larger
    }

    private func unreadable() -> CommandFailure {
        CommandFailure(.failure, "\(name) cannot be read (\(systemMessage()))", "check the path and its permissions")
    }

    deinit {
        wipe(memory)
        memory.deallocate()
    }
}
