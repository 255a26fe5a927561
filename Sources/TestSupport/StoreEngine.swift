import Sealing
package import TokenStorage

/// Which database the store of a test is in.
package enum StoreEngine: String, Sendable, CaseIterable {
    case file
    case server

    /// The engine of the tests that run now.
    @TaskLocal package static var current = file

    /// Whether tests can run with it here.
    package var isInstalled: Bool { self == .file || TestServer.isInstalled }

    /// A place where no store is yet: a file in `directory`, or a schema of the tests' server.
    package func newLocation(in directory: TemporaryDirectory) throws -> StoreLocation {
        guard self == .server else { return StoreLocation(StorePath(directory.file("tokenstore.db"))) }
        return StoreLocation(try TestServer.shared.get().addressForStore())
    }

    /// Makes and opens a store in a new place.
    package func open(in directory: TemporaryDirectory, options: StoreOptions) throws -> TokenStore {
        let location = try newLocation(in: directory)
        guard self == .server else { return try TokenStore.open(at: location, options: options) }
        // As beside a file: a key that any other program of the test finds.
        var creation = options
        creation.keySource = options.keySource ?? .file(directory.file("key"))
        let isDistributed = try TestCluster.spreads(TestServer.shared.get())
        try TokenStore.create(at: location, options: creation, isDistributed: isDistributed)
        return try TokenStore.open(at: location, options: options)
    }
}
