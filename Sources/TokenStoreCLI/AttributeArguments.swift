import ArgumentParser
import OAuth

/// What a script says of who signs up.
struct AttributeArguments: ParsableArguments {
    @Option(
        name: .customLong("attribute"),
        parsing: .singleValue,
        help: ArgumentHelp(
            "An attribute of the account, such as country=Ecuador; repeatable. Those that are missing are asked for.",
            valueName: "name=value"
        )
    )
    var pairs: [String] = []

    func validate() throws {
        guard pairs.allSatisfy({ ($0.unicodeScalars.firstIndex(of: "=") ?? $0.startIndex) > $0.startIndex }) else {
            throw ValidationError("an --attribute is not NAME=VALUE; give it as in --attribute country=Ecuador")
        }
    }

    /// nil if there are none.
    var object: JSON.Object? {
        guard !pairs.isEmpty else { return nil }
        let members = pairs.map { pair in
            let parts = pair.unicodeScalars.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return (String(parts[0]), JSON.string(String(parts[1])))
        }
        return JSON.Object(members)
    }
}
