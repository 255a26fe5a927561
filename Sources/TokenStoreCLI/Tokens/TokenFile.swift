import OAuth
import TokenManagement
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The file of `token --output`: a bare token and nothing else.
struct TokenFile {
    let path: String
    let acquisition: TokenAcquisition

    private var arguments: StoreArguments { acquisition.arguments }

    /// Writes a token once.
    func write(on console: Console) throws {
        try requireReplaceable()
        let token = try acquisition.token(on: console)
        try write(token, console)
        guard arguments.json else { return }
        try console.document {
            $0.member("file", path)
            $0.time("expiresAt", token.end)
            $0.array("declinedScopes", token.declinedScopes)
            $0.member("homeAccountId", token.account.id.homeAccountID)
            $0.member("source", token.source.rawValue)
        }
    }

    /// Writes a token, and each newer one of its account in time; once there is a token, a failure that may pass is
    /// waited out.
    func watch(on console: Console) throws -> Never {
        try requireReplaceable()
        var pace = RefreshPace(leastLifetime: acquisition.token.minTTL)
        var token = try acquisition.token(on: console)
        try write(token, console)
        var told: String?
        while true {
            pace.wait(until: pace.due(token))
            do {
                let next = try next(after: token, console)
                if next.secret != token.secret { try write(next, console) }
                token = next
                pace.succeed(isFresh: next.isFresh)
                told = nil
            } catch {
                let failure = CommandFailure(error)
                guard failure.mayPass(whileGood: Date() < token.expiresAt) else { throw failure }
                // Once, however often it is tried.
                if failure.message != told { console.note(failure.sentence) }
                told = failure.message
                pace.fail()
            }
        }
    }

    /// A token that is newer than `token`, by a request of this process only if no other has made one.
    private func next(after token: HandedToken, _ console: Console) throws -> HandedToken {
        let stored = try acquisition.token(on: console, after: token)
        guard stored.secret == token.secret, stored.source == .cache, stored.isFresh else { return stored }
        var renewing = acquisition
        renewing.token.forceRefresh = true
        return try renewing.token(on: console, after: token)
    }

    private func write(_ token: HandedToken, _ console: Console) throws {
        try token.requireUnbound()
        try requireReplaceable()
        let file = try OutputFile(path, sparing: try files, replacing: true)
        try token.secret.withUnsafeBytes { try file.write($0) }
        try file.commit()
        console.log(.info, "wrote \(path), a token until \(token.end)")
    }

    private var files: StoreFiles? {
        get throws { try arguments.location.path.map { StoreFiles($0, source: arguments.key) } }
    }

    /// Refuses to replace what does not look like a token file: a mistyped name must not cost a key or a document.
    private func requireReplaceable() throws {
        try OutputFile.check(path, sparing: try files)
        let descriptor = systemOpen(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return }
            // What cannot be looked at may be anything, and a rename would replace it all the same.
            throw CommandFailure.ofSystem("\(path) cannot be read", "name another file, or remove that one")
        }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: Self.longestToken + 1)
        defer { bytes.withUnsafeMutableBytes { wipe($0) } }
        let count = bytes.withUnsafeMutableBytes { systemRead(descriptor, $0.baseAddress, $0.count) }
        guard count >= 0, count <= Self.longestToken, bytes.prefix(count).allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw CommandFailure(
                .failure,
                "\(path) is there and is not a file with a token alone",
                "name another file, or remove that one"
            )
        }
    }

    private static let longestToken = 1 << 17
}

extension CommandFailure {
    /// Whether a token is kept fresh all the same; `isGood` says whether the one that is there still lasts.
    func mayPass(whileGood isGood: Bool) -> Bool {
        switch status {
        case .network, .storeBusy: true
        case .interactionRequired, .usage, .cancelled, .interrupted: false
        // As the page of a proxy does, a network that wants a login first, a key that was not found once, a full disk.
        default: isGood
        }
    }
}

/// When a token that is kept fresh is asked for again.
private struct RefreshPace {
    let leastLifetime: Int64

    /// How often in a row there was no newer token.
    private var failures = 0

    init(leastLifetime: Int64) { self.leastLifetime = leastLifetime }

    mutating func succeed(isFresh: Bool) { failures = isFresh ? 0 : failures + 1 }

    mutating func fail() { failures += 1 }

    /// When the issuer asks for it, else five minutes before the end, and for a short token half its time before.
    func due(_ token: HandedToken) -> Date {
        let now = Date()
        guard failures == 0 else { return now + Double(min(60, 1 << min(failures, 6))) }
        let rest = token.expiresAt.timeIntervalSince(now)
        let lead = max(Double(leastLifetime), min(300, rest / 2))
        let due = min(token.refreshAt ?? .distantFuture, token.expiresAt - lead)
        // A token that is never good for long enough must not be asked for without a pause.
        return max(due, now + max(1, min(10, rest / 2)))
    }

    /// Waits by the clock on the wall, which goes on while a machine sleeps; one that is set back ends the waiting.
    func wait(until date: Date) {
        var last = Date()
        while true {
            let now = Date()
            let rest = date.timeIntervalSince(now)
            guard rest > 0, now >= last else { return }
            last = now
            _ = poll(nil, 0, Int32(min(rest, 30) * 1000) + 1)
        }
    }
}
