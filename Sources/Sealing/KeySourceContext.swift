package import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a key source needs to know about the store and the process.
package struct KeySourceContext: Sendable {
    /// Of the database; the key file's default place.
    package var directory: String

    /// 16 bytes, under which a keyring keeps the key.
    package var storeID: [UInt8]

    package var environment: [String: String]

    /// What ``KeySource/create(_:)`` returned, as recorded in the store.
    package var parameters: [String: String]

    /// Asks on the terminal, twice if `confirm`; nil where nobody may be asked.
    package var askPassphrase: (@Sendable (_ confirm: Bool) throws -> Secret)?

    /// For sources that can hang.
    package var deadline: Duration

    /// How long to wait for another process that makes the same key.
    package var lockTimeout = Duration.seconds(30)

    /// For new passphrases; a recorded one keeps its own.
    package var scryptCost = ScryptCost.standard

    /// The file name that `secret-service` loads at first use.
    package var secretServiceLibrary = "libsecret-1.so.0"

    package init(
        directory: String,
        storeID: [UInt8],
        environment: [String: String]? = nil,
        parameters: [String: String] = [:],
        askPassphrase: (@Sendable (_ confirm: Bool) throws -> Secret)? = nil,
        deadline: Duration = .seconds(5)
    ) {
        self.directory = directory
        self.storeID = storeID
        self.environment = environment ?? ProcessInfo.processInfo.environment
        self.parameters = parameters
        self.askPassphrase = askPassphrase
        self.deadline = deadline
    }
}
