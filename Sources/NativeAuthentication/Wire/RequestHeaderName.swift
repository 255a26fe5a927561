/// The names of headers that an app may add.
enum RequestHeaderName {
    private static let reserved = ["x-ms-", "x-client-", "x-broker-", "x-app-"]

    static func isAllowed(_ name: String) -> Bool {
        let folded = name.lowercased()
        let isToken = folded.utf8.allSatisfy { byte in
            (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
        }
        return isToken && folded.count > 2 && folded.hasPrefix("x-") && !reserved.contains { folded.hasPrefix($0) }
    }
}
