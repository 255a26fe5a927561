import Foundation

/// The one line that says where the provider is.
struct Announcement: Encodable {
    let addresses: [String]
    let adminKey: String?
    let note = "development provider: loopback only, in memory, do not use real passwords"

    var line: String {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return String(decoding: try encoder.encode(self), as: UTF8.self)
        }
    }
}
