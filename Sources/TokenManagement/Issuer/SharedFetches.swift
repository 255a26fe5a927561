import OAuth
import OpenIDConnect
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What an issuer publishes.
///
/// An issuer chooses the address of its keys, which may be that of another issuer's metadata.
enum IssuerDocumentKind: CaseIterable {
    case metadata
    case keys
}

/// The fetches of issuers' documents that are under way, which all callers of a manager share.
///
/// It goes on when a caller is cancelled, as others may wait for it; no request takes longer than its limits.
final class SharedFetches: Sendable {
    private struct Fetch {
        let kind: IssuerDocumentKind
        let url: String
        let task: Task<JSONValue.Object, any Error>
    }

    /// Few at a time: two for each issuer.
    private let fetches = LockedValue<[Fetch]>([])

    /// The document that `fetch` returns, or a fetch from `url` that is under way.
    func document(
        _ kind: IssuerDocumentKind,
        at url: String,
        _ fetch: @escaping @Sendable () async throws -> JSONValue.Object
    ) async throws -> JSONValue.Object {
        let task = fetches.withLock { fetches -> Task<JSONValue.Object, any Error> in
            if let known = fetches.first(where: { $0.kind == kind && $0.url == url }) { return known.task }
            let task = Task {
                // A later caller finds the document in the store.
                defer { self.fetches.withLock { $0.removeAll { $0.kind == kind && $0.url == url } } }
                return try await fetch()
            }
            fetches.append(Fetch(kind: kind, url: url, task: task))
            return task
        }
        return try await task.value
    }
}

/// The documents that one sign-in fetched, the newest of each address.
final class FetchedDocuments: Sendable {
    struct Document {
        let document: JSONValue.Object

        /// For how many seconds it may be kept.
        let lifetime: Int64
        let at: Date
    }

    private let documents = LockedValue<[String: Document]>([:])

    /// By address.
    var all: [String: Document] { documents.withLock { $0 } }

    func add(_ document: JSONValue.Object, _ url: String, _ lifetime: Int64, at date: Date) {
        documents.withLock { $0[url] = Document(document: document, lifetime: lifetime, at: date) }
    }
}

/// A wait that an issuer asked for when it did not serve a document: nothing was sent, because it lasts.
///
/// The store keeps it as a document of its own, so that every process keeps to it.
struct IssuerWait: Error {
    /// What the issuer answered, with the time that is left.
    let outage: IssuerUnavailable

    /// Reads what ``document(_:until:)`` made.
    init(_ document: JSONValue.Object, now: Int64) {
        let end = document["until"]?.seconds ?? now
        outage = IssuerUnavailable(
            status: document["status"]?.seconds.map(Int.init) ?? 503,
            retryAfter: .seconds(max(end - now, 1))
        )
    }

    /// The wait after an answer of this status, which ends at a moment in Unix seconds.
    static func document(_ status: Int, until end: Int64) -> JSONValue.Object {
        JSONValue.Object([("status", .number("\(status)")), ("until", .number("\(end)"))])
    }

    /// The name under which the store keeps the wait for the document at `url`; no document has such a name.
    static func name(_ kind: IssuerDocumentKind, _ url: String) -> String { "wait for \(kind): \(url)" }
}
