import ArgumentParser
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Imports a file into a store, as the command line does.
struct ImportChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "import", shouldDisplay: false)

    @Argument var database: String
    @Argument var file: String

    func run() throws {
        let store = try TokenStore.open(at: StorePath(database))
        let document = try Data(contentsOf: URL(fileURLWithPath: file))
        _ = try document.withUnsafeBytes { try store.importMSALCache($0) }
    }
}
