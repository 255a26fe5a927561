import Foundation
import TestSupport
import TestTraits
import Testing
import TokenStorage

/// Moves by a role that may use a store, and not move it away.
@Suite(.onWaitingThreads, .ifServerIsInstalled)
struct CopyRightsTests {
    @Test func `a move that is not allowed makes nothing at the other place, and its plan says so`() throws {
        let scene = try ServerScene()
        try scene.create(granting: ServerRoles(application: "trusted"))
        let source = try scene.location(as: "trusted")
        try TokenStore.open(at: source, options: scene.options)
            .save(ServerScene.response("u1", token: "a"), for: ServerScene.request())
        let path = StorePath(scene.directory.file("target/tokenstore.db"))
        let target = StoreLocation(path)
        var options = scene.options
        options.keySource = nil
        func plan(keepsSource: Bool) throws -> Int {
            try TokenStore.planCopy(
                from: source,
                to: target,
                reading: scene.options,
                writing: options,
                keepsSource: keepsSource
            ).accounts
        }
        expectCode(.access) { _ = try plan(keepsSource: false) }
        expectCode(.access) {
            _ = try TokenStore.copy(from: source, to: target, reading: scene.options, writing: options)
        }
        #expect(!FileManager.default.fileExists(atPath: path.directory))
        #expect(try plan(keepsSource: true) == 1)
        #expect(try TokenStore.planCopy(from: scene.location, to: target, reading: scene.options).accounts == 1)
    }
}
