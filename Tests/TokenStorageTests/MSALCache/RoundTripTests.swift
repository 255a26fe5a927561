import Foundation
import OAuth
import TestSupport
import Testing
import TokenStorage

struct RoundTripTests {
    @Test func `an empty store exports an empty cache`() throws {
        let directory = try TemporaryDirectory()
        let store = try TokenStore.open(at: StorePath(directory.file("tokenstore.db")))
        var document: [UInt8] = []
        try store.exportMSALCache { document.append(contentsOf: $0) }
        #expect(try document.withUnsafeBytes { try JSON(parsing: $0) } == [:])
    }
}
