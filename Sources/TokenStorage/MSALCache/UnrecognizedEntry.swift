import Database
import OAuth
import Sealing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// An entry of an imported document that is kept as it is: unknown or quarantined.
struct UnrecognizedEntry {
    /// The bucket and the key of an entry in a document.
    struct Path: Hashable {
        let bucket: String

        /// Nil where the bucket as a whole is kept.
        let key: String?

        /// The names as they were written, with their quotes, where no text can hold them: half of a character has no
        /// place in one.
        var rawBucket: String?
        var rawKey: String?

        /// The names as JSON.
        var bucketJSON: String { rawBucket ?? JSONValue.string(bucket).serialized }
        var keyJSON: String { rawKey ?? JSONValue.string(key ?? "").serialized }

        /// Byte by byte: two spellings of a letter make two names.
        static func == (lhs: Self, rhs: Self) -> Bool { lhs.bytes == rhs.bytes }
        func hash(into hasher: inout Hasher) { hasher.combine(bytes) }
        private var bytes: [[UInt8]] { [bucketJSON, key == nil ? "" : keyJSON].map { Array($0.utf8) } }
    }

    let path: Path

    /// What the entry says, as well as it can be read.
    let value: JSONValue

    /// The value as it was written, where it is odd JSON, such as half of a character.
    var raw: String?

    /// Why it is quarantined; nil if it is only unknown.
    let rejection: String?

    var members: JSONValue.Object {
        var members = JSONValue.Object([("bucket", .string(bucket))])
        if let key { members["key"] = .string(key) }
        let raws = [("rawBucket", path.rawBucket), ("rawKey", path.rawKey), ("raw", raw)]
        for case (let name, let raw?) in raws { members[name] = .string(raw) }
        if raw == nil { members["value"] = value }
        return members
    }

    /// The id of the account that the entry names, or else its key, which may begin with one; folded.
    ///
    /// No issuer gives ids as long as this.
    private var accountText: String {
        if let id = value.object?["home_account_id"]?.text, !id.isEmpty { return id.folded }
        return String((key ?? "").folded.prefix(512))
    }

    /// The hash of the account that the entry may be of; nil where it may be of several.
    func accountHash(_ sealer: Sealer) -> [UInt8]? {
        bucket == StoreConnection.accountMetadataBucket ? nil : Self.accountHash(of: accountText, sealer)
    }

    /// The hash of the account whose folded id is `id`, or begins a key: up to the first hyphen they are alike.
    static func accountHash(of id: String, _ sealer: Sealer) -> [UInt8] {
        var start = String(Substring(id.utf8.prefix { $0 != UInt8(ascii: "-") }))
        return start.withUTF8 { sealer.fingerprint(of: UnsafeRawBufferPointer($0), label: "foreign_entry account") }
    }

    var bucket: String { path.bucket }
    var key: String? { path.key }

    init(_ members: JSONValue.Object, rejection: String?) {
        path = Path(
            bucket: members["bucket"]?.text ?? "",
            key: members["key"]?.text,
            rawBucket: members["rawBucket"]?.text,
            rawKey: members["rawKey"]?.text
        )
        raw = members["raw"]?.text
        // It was read before it was kept.
        value = raw.map { (try? JSONValue.mended($0)) ?? .null } ?? members["value"] ?? .null
        self.rejection = rejection
    }

    init(_ path: Path, value: JSONValue, raw: String? = nil, rejection: String?) {
        self.path = path
        self.value = value
        self.raw = raw
        self.rejection = rejection
    }

    /// Whether the entry was written before the other one, as far as both tell.
    func isOlder(than other: UnrecognizedEntry, now: Int64) -> Bool {
        guard let time = value.object?["cached_at"]?.seconds, let later = other.value.object?["cached_at"]?.seconds
        else { return false }
        return time < later && MSALEntity.isPast(later, now: now)
    }

    /// What identifies the entry, hashed: a key may hold anything.
    func identity(_ sealer: Sealer) -> [UInt8] {
        var text = bucket + "\u{0}" + (key.map { "\u{1}" + $0 } ?? "")
        for raw in [path.rawBucket, path.rawKey] { text += raw.map { "\u{2}" + $0 } ?? "" }
        return text.withUTF8 { sealer.fingerprint(of: UnsafeRawBufferPointer($0), label: "foreign_entry") }
    }
}

// MARK: - Whose it is

extension UnrecognizedEntry {
    func replacing(value: JSONValue) -> UnrecognizedEntry {
        UnrecognizedEntry(path, value: value, rejection: rejection)
    }

    /// The account that the entry names, folded; where it names none, those that its key may begin with.
    var homeAccountIDs: [String] {
        let text = accountText
        if let id = value.object?["home_account_id"]?.text, !id.isEmpty { return [text] }
        return text.indices.filter { text[$0] == "-" }.map { String(text[..<$0]) }
    }

    /// Whether the entry is of the account's hosts, or names no host; and of its very subject, where that matters.
    ///
    /// `isAt` says whether an account of the same id is at a host without a port.
    func mayBelong(to account: Account.ID, isAt: (_ host: String) throws -> Bool) rethrows -> Bool {
        let named = value.object?["home_account_id"]?.text ?? account.homeAccountID
        guard account.named(named) == account else { return false }
        // Where the host cannot be read, as in what was quarantined because of it, the id alone decides.
        guard let environment = value.object?["environment"]?.text, let place = Self.place(environment),
            let own = Self.place((try? Authority(issuer: account.issuer))?.environment ?? account.issuer)
        else { return true }
        guard place.group == own.group, place.port != own.port else { return place.group == own.group }
        // MSAL for Python names no port.
        return try place.port == 443 && !isAt(place.group)
    }

    /// The host that an environment names, also one that was written as an address; nil where it names none.
    private static func place(_ environment: String) -> (group: String, port: Int)? {
        let parts = environment.folded.parts(separatedBy: "/")
        let hasScheme = parts.first?.utf8.last == UInt8(ascii: ":")
        guard let text = parts.dropFirst(hasScheme ? 1 : 0).first, let place = HostAndPort(text, usualPort: 443) else {
            return nil
        }
        // A dot at the end of a name changes nothing.
        let host = place.host.utf8.last == UInt8(ascii: ".") ? String(place.host.dropLast()) : place.host
        return (Cloud.group(of: host), place.port)
    }

    func isOf(_ client: String?) -> Bool {
        client == nil || value.object?["client_id"]?.text?.folded == client?.folded
    }
}

extension JSONValue {
    /// Whether a text of the value has a NUL, which a server's texts cannot have; `written` is the value as JSON.
    func hasNUL(in written: UnsafeRawBufferPointer) -> Bool {
        // It can be written as an escape only, and most documents have none.
        guard let start = written.baseAddress, memchr(start, CInt(UInt8(ascii: "\\")), written.count) != nil else {
            return false
        }
        return hasNUL
    }

    private var hasNUL: Bool {
        if let object { return object.members.contains { $0.name.utf8.contains(0) || $0.value.hasNUL } }
        if let array { return array.contains(where: \.hasNUL) }
        return text?.utf8.contains(0) ?? false
    }
}
