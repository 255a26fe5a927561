import Foundation
import OAuth
import TestSupport
import Testing
import TokenStorage

struct RoundTripTests {
    @Test func `an empty store exports an empty cache`() throws {
        let directory = try TemporaryDirectory()
        let store = try TokenStore.open(at: StorePath(directory.file("tokenstore.db")))
        let document = try store.exportMSALCache()
        #expect(try document.withUnsafeBytes { try JSONValue(parsing: $0) } == [:])
    }

    @Test func `an exported document is imported by another store`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let document = try fixture.store.exportMSALCache()
        let directory = try TemporaryDirectory()
        let store = try TokenStore.open(at: StorePath(directory.file("tokenstore.db")), options: fixture.options)
        #expect(try store.importMSALCache(document).accessTokens == 1)
        #expect(try store.accounts().map(\.id) == fixture.store.accounts().map(\.id))
    }
}
