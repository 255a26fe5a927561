import Foundation
import OAuth
import TestSupport
import TestTraits
import Testing
import TokenStorage

@Suite(.onBothEngines)
struct RoundTripTests {
    @Test func `an empty store exports an empty cache`() throws {
        let fixture = try TestStore()
        let document = try fixture.store.exportMSALCache()
        #expect(try document.withUnsafeBytes { try JSONValue(parsing: $0) } == [:])
    }

    @Test func `an exported document is imported by another store`() throws {
        let fixture = try TestStore(.standardCache(.accessToken("a", "s1")))
        let document = try fixture.store.exportMSALCache()
        let other = try TestStore()
        #expect(try other.store.importMSALCache(document).accessTokens == 1)
        #expect(try other.store.accounts().map(\.id) == fixture.store.accounts().map(\.id))
    }
}
