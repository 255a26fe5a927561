import OAuth
import TestSupport
import TestTraits
import Testing

@testable import TokenStorage

/// What issuers publish, which the store keeps for a while.
@Suite(.onBothEngines)
struct IssuerDocumentTests {
    private static let url = "https://issuer.example/keys"
    private static let (first, second) = (document("first"), document("second"))

    private static func document(_ name: String) -> JSONValue.Object { JSONValue.Object([("name", .string(name))]) }

    private static func kept(_ fixture: TestStore) throws -> JSONValue? {
        try fixture.store.issuerDocument(url)?["name"]
    }

    /// Puts the second document, which was fetched some seconds ago, in the place of the first.
    private static func replace(_ fixture: TestStore, age: Int64, lifetime: Int64 = 600) throws {
        try fixture.store.replaceIssuerDocument(second, url: url, lifetime: lifetime, age: age)
    }

    @Test func `a document takes the place of one that was fetched before it, for the rest of its time`() throws {
        let fixture = try TestStore()
        try fixture.store.saveIssuerDocument(Self.first, url: Self.url, lifetime: 86_400)
        fixture.clock.seconds += 300
        try Self.replace(fixture, age: 200)
        #expect(try Self.kept(fixture) == "second")
        fixture.clock.seconds += 399
        #expect(try Self.kept(fixture) == "second")
        fixture.clock.seconds += 1
        #expect(try Self.kept(fixture) == nil)
    }

    @Test func `a newer document stays, and one whose time is over is not kept`() throws {
        let fixture = try TestStore()
        try fixture.store.saveIssuerDocument(Self.first, url: Self.url, lifetime: 86_400)
        fixture.clock.seconds += 300
        try Self.replace(fixture, age: 301)
        #expect(try Self.kept(fixture) == "first")
        try Self.replace(fixture, age: 200, lifetime: 200)
        #expect(try Self.kept(fixture) == "first")
    }

    @Test func `one that is added is kept for the rest of its time, and replaces no newer one`() throws {
        let fixture = try TestStore()
        let add = { (document: JSONValue.Object, age: Int64) in
            try fixture.store.replaceIssuerDocument(document, url: Self.url, lifetime: 600, age: age)
        }
        try add(Self.first, 600)
        #expect(try Self.kept(fixture) == nil)
        try add(Self.first, 200)
        #expect(try Self.kept(fixture) == "first")
        try add(Self.second, 201)
        #expect(try Self.kept(fixture) == "first")
        fixture.clock.seconds += 400
        #expect(try Self.kept(fixture) == nil)
        // The row of one whose time is over may be there still.
        try add(Self.second, 0)
        #expect(try Self.kept(fixture) == "second")
    }
}
