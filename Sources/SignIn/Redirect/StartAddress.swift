package import NIOCore
import OAuth
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An address of this machine that leads the person's browser to the issuer's page.
///
/// Every user of the machine can read the arguments of a program. The page's own address holds `state`, `nonce` and the
/// challenge of the proof key. Another user who reads it can sign in with another account and send that answer here,
/// and the person then works in a stranger's account. This address holds none of that, and redirects only programs of
/// this user.
///
/// Where the system does not say whose a connection is, it is good for one request. The second one is then another
/// user's or the browser's after him, so the sign-in is called off.
package final class StartAddress: Sendable {
    enum Answer: Equatable {
        case leads(to: String)

        /// Nothing is said to this program.
        case nothing

        /// It was used before, by an unknown program.
        case usedUp
    }

    /// 256 random bits.
    package let path = "/" + Secret.random().reveal()
    private let page = LockedValue<String?>(nil)
    private let isUsed = LockedValue(false)

    package init() {}

    /// Makes `address` the page.
    package func lead(to address: String) { page.withLock { $0 = address } }

    func answer(to owner: ConnectionOwner) -> Answer {
        guard let page = page.withLock(\.self), owner != .anotherUser else { return .nothing }
        let isFirst = isUsed.withLock { isUsed in
            // Once an unknown program was led on, each further request may be the browser that came second.
            defer { if owner == .unknown { isUsed = true } }
            return !isUsed
        }
        return isFirst ? .leads(to: page) : .usedUp
    }
}

/// Whose program is at the other end of a connection from this machine.
package enum ConnectionOwner: Sendable {
    /// This user's, or root's, from whom nothing can be hidden.
    case thisUser
    case anotherUser

    /// The system does not say.
    case unknown

    /// Asks the system's table of connections, which every user may read on Linux only (proc_pid_net(5)).
    package static func of(_ channel: any Channel) -> Self {
        guard let near = channel.localAddress?.tableEntry, let far = channel.remoteAddress?.tableEntry else {
            return .unknown
        }
        var isReadable = false
        for (table, name) in [("/proc/net/tcp", \TableEntry.short), ("/proc/net/tcp6", \TableEntry.long)] {
            guard let here = near[keyPath: name], let there = far[keyPath: name] else { continue }
            switch user(in: table, local: there, remote: here) {
            case .number(let user): return user == geteuid() || user == 0 ? .thisUser : .anotherUser
            case .missing: isReadable = true
            case .unreadable: continue
            }
        }
        return isReadable ? .anotherUser : .unknown
    }

    private enum User {
        case number(uid_t)
        case missing
        case unreadable
    }

    /// The user whose end of a connection has the address `local`.
    ///
    /// An end that was closed has no user any more, so only connections in use count.
    private static func user(in table: String, local: String, remote: String) -> User {
        guard let file = fopen(table, "re") else { return .unreadable }
        defer { fclose(file) }
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) > 0, let line {
            let fields = String(cString: line).split(separator: " ", maxSplits: 8)
            guard fields.count > 7, fields[1] == local, fields[2] == remote, fields[3] == established else { continue }
            return uid_t(fields[7]).map { .number($0) } ?? .missing
        }
        return .missing
    }

    private static let established = "01"
}

/// An address and a port as the table has them.
private struct TableEntry {
    /// In the table of IPv4; nil for IPv6.
    let short: String?

    /// In the table of IPv6, which also has IPv4 connections of programs that use one kind of socket for both.
    let long: String?
}

extension SocketAddress {
    fileprivate var tableEntry: TableEntry? {
        guard let port, let ipAddress else { return nil }
        let ending = ":" + Self.hexadecimal(UInt32(port), digits: 4)
        if let number = Self.words(ipAddress, AF_INET, count: 1) {
            let prefix = [0, 0, UInt32(0xFFFF).bigEndian].map { Self.hexadecimal($0, digits: 8) }.joined()
            return TableEntry(short: number + ending, long: prefix + number + ending)
        }
        return Self.words(ipAddress, AF_INET6, count: 4).map { TableEntry(short: nil, long: $0 + ending) }
    }

    /// The number of an address in the table's words, which have the order of this machine's bytes.
    private static func words(_ address: String, _ family: Int32, count: Int) -> String? {
        var words = [UInt32](repeating: 0, count: count)
        guard inet_pton(family, address, &words) == 1 else { return nil }
        return words.map { hexadecimal($0, digits: 8) }.joined()
    }

    private static func hexadecimal(_ number: UInt32, digits: Int) -> String {
        let text = String(number, radix: 16, uppercase: true)
        return String(repeating: "0", count: digits - text.count) + text
    }
}
