import TokenStoreCLI

/// Arguments of the command line, one a line, read and not obeyed.
struct ArgumentsInput: FuzzInput {
    /// What the program prints of wrong arguments is not to flood a terminal.
    private static let longest = 4_096

    func run(_ bytes: [UInt8]) throws {
        // No system passes on an argument with a zero in it.
        let lines = bytes.filter { $0 != 0 }.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let arguments = lines.map { String(decoding: $0, as: UTF8.self) }
        guard let objection = TokenStoreProgram.objection(to: arguments) else { return }
        try hold(objection.status == 64, "wrong arguments end with 64, not \(objection.status)")
        try hold(objection.text.hasPrefix("tokenstore: error: "), "who complains says its name: \(objection.text)")
        try hold(objection.text.contains("; "), "an error says what to do: \(objection.text)")
        let controls = objection.text.unicodeScalars.filter { $0.properties.generalCategory == .control }
        try hold(controls.count == 1 && objection.text.hasSuffix("\n"), "an error is one line: \(objection.text)")
        try hold(objection.text.utf8.count <= Self.longest + 8 * bytes.count, "an error is short")
    }
}
