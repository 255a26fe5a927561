import Database
import OAuth

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// How MSAL for Python names the hosts of a store: without a port, which ours have where it is not 443.
///
/// Where accounts with one id are at several ports of a host, the ports stay: by host alone no import could tell whose
/// token is whose. So does that of an account whose port is not told by its ID tokens, all of them: its refresh token
/// would be sent elsewhere. No ID token tells that of a client's own token, which another store would take for one of
/// the host's usual port; and of a client that is known at several ports, each has its own metadata.
struct MSALHosts {
    /// Environments that keep their port.
    private var kept: Set<String> = []

    /// Those that keep it for one account: its key, and the environment.
    private var keptOfAccounts: Set<[String]> = []

    /// Those that keep it in the metadata of one client: its folded id, and the environment.
    private var keptOfClients: Set<[String]> = []

    init(_ session: StoreConnection) throws {
        var environments: [String: [String: Set<String>]] = [:]
        try session.forEachEnvironmentWithPort { account, environment, hasIDToken in
            if !hasIDToken { keptOfAccounts.insert([account, environment]) }
            guard let host = Self.host(environment) else { return }
            environments[account, default: [:]][host, default: []].insert(environment)
        }
        try session.forEachIDTokenAtPort { account, claims, environments in
            for environment in environments where !Self.isTold(environment, by: claims, of: account) {
                keptOfAccounts.insert([account.key, environment])
            }
        }
        for (account, hosts) in environments {
            let known = try session.environments(ofAccountsWithKey: account)
            for (host, found) in hosts where found.count > 1 || known.contains(host) { kept.formUnion(found) }
        }
        var places: [[String]: Set<String>] = [:]
        try session.forEachEnvironmentOfClients { client, environment in
            guard let host = HostAndPort(environment, usualPort: 443)?.host else { return }
            places[[client, host], default: []].insert(environment)
        }
        for (place, found) in places where found.count > 1 {
            for environment in found { keptOfClients.insert([place[0], environment]) }
        }
    }

    /// An entity and its keys as MSAL would write them.
    func naming(_ keys: [String], _ entity: JSONValue) -> ([String], JSONValue) {
        guard var object = entity.object, let environment = object["environment"]?.text,
            let host = Self.host(environment), !kept.contains(environment), !keepsPort(environment, of: object)
        else { return (keys, entity) }
        object["environment"] = .string(host)
        let (old, new) = ("-\(environment.lowercased())-", "-\(host)-")
        return (keys.map { $0.replacing(old, with: new, maxReplacements: 1) }, .object(object))
    }

    private func keepsPort(_ environment: String, of entity: JSONValue.Object) -> Bool {
        guard let account = entity["home_account_id"] else {
            // Metadata is of no account.
            return keptOfClients.contains([entity["client_id"]?.text?.folded ?? "", environment])
        }
        guard let id = account.text, !id.isEmpty else { return true }
        return !keptOfAccounts.isEmpty
            && Account.ID.keys(of: id).contains { keptOfAccounts.contains([$0, environment]) }
    }

    /// Whether an import finds the port of an environment again where it has the host alone.
    ///
    /// By what it takes the account for then: an issuer elsewhere tells no port, and one of Microsoft's hosts has none.
    private static func isTold(_ environment: String, by claims: Claims?, of account: Account.ID) -> Bool {
        guard host(environment) != nil, let place = HostAndPort(environment, usualPort: 443) else { return true }
        guard let claims else { return false }
        let issuer = AccountIdentity(
            homeAccountID: account.homeAccountID,
            environment: place.urlHost,
            claims: claims,
            knownAuthority: nil
        ).issuer
        return (WebAddress(issuer)?.name ?? issuer) == place.name
    }

    /// The host of an environment that has a port.
    fileprivate static func host(_ environment: String) -> String? {
        guard environment.utf8.contains(UInt8(ascii: ":")),
            let place = HostAndPort(environment, usualPort: 443), place.port != 443
        else { return nil }
        return place.host
    }
}

/// The accounts and clients that a document names at a port of a host.
///
/// What it has of them at the host alone is of the usual port then, as in an export that keeps the ports.
struct NamedPorts {
    /// The folded id of an account, or of a client whose own token or metadata it is, and the host.
    private struct Place: Hashable {
        let account: String?
        let client: String?
        let isMetadata: Bool
        let host: String

        init(_ entity: JSONValue.Object, _ bucket: MSALBucket, at host: String) {
            account = entity["home_account_id"]?.text?.folded
            client = account == nil ? entity["client_id"]?.text?.folded ?? "" : nil
            isMetadata = bucket == .appMetadata
            self.host = host
        }
    }

    private var places: Set<Place> = []

    mutating func add(_ entity: JSONValue, _ bucket: MSALBucket) {
        guard let object = entity.object, let host = object["environment"]?.text.flatMap({ MSALHosts.host($0) })
        else { return }
        places.insert(Place(object, bucket, at: host))
    }

    /// Whether an entity at a host by its name alone is not of a port of the host.
    func tellApart(_ entity: JSONValue, _ bucket: MSALBucket) -> Bool {
        guard !places.isEmpty, let object = entity.object,
            let place = object["environment"]?.text.flatMap({ HostAndPort($0, usualPort: 443) }), place.port == 443
        else { return false }
        return places.contains(Place(object, bucket, at: place.host))
    }

    /// Whether an environment of a document may have a port; most documents have none, and need not be read for it.
    static func mayBe(in document: UnsafeRawBufferPointer) -> Bool {
        guard let start = document.baseAddress else { return false }
        let name = Array("\"environment\"".utf8)
        // By a letter that few other names have.
        let (letter, place) = (UInt8(ascii: "v"), 3)
        var next = 0
        while let found = memchr(start + next, CInt(letter), document.count - next) {
            let index = start.distance(to: UnsafeRawPointer(found))
            next = index + 1
            let end = index - place + name.count
            guard index >= place, end <= document.count, memcmp(start + end - name.count, name, name.count) == 0
            else { continue }
            let value = document[end...].drop { $0 == UInt8(ascii: ":") || $0 <= UInt8(ascii: " ") }.dropFirst()
            let environment = value.prefix { $0 != UInt8(ascii: "\"") }
            // An escape may stand for anything.
            if environment.contains(where: { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: "\\") }) { return true }
        }
        return false
    }
}

extension JSONValue {
    /// The entity with brackets around an address of IPv6, without which MSAL for Python writes it.
    var bracketingAddress: JSONValue {
        guard var object, let host = object["environment"]?.text, host.utf8.first != UInt8(ascii: "["),
            host.utf8.count(where: { $0 == UInt8(ascii: ":") }) > 1
        else { return self }
        object["environment"] = .string("[\(host)]")
        return .object(object)
    }
}

extension StoreConnection {
    /// An entity of an import with the port of its host, where an account with the same id is known to be at one; nil
    /// where it stays as it is.
    func namingPort(_ entity: JSONValue, _ places: AccountPlaces) throws -> JSONValue? {
        guard var object = entity.object, let host = object["environment"]?.text, !host.isEmpty else { return nil }
        let hasPort = host.utf8.contains(UInt8(ascii: ":")) && host.utf8.last != UInt8(ascii: "]")
        guard !hasPort, !Cloud.contains(host) else { return nil }
        let environments = try environments(host: host.folded, of: object, places)
        guard environments.count == 1, let environment = environments.first, environment != host else { return nil }
        object["environment"] = .string(environment)
        return .object(object)
    }

    /// The environments at `host` that are known for the account of an entity, or for its client where it names none.
    private func environments(
        host: String,
        of entity: JSONValue.Object,
        _ places: AccountPlaces
    ) throws -> Set<String> {
        if let id = entity["home_account_id"]?.text?.folded {
            return try places.environments(host: host, ofAccount: id)
        }
        return try environments(host: host, ofClient: entity["client_id"]?.text?.folded ?? "")
    }
}
