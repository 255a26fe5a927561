extension CommandFailure {
    /// What the argument parser says, as one line without a capital or a full stop.
    init(usage message: String, of command: String?) {
        var sentence = message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        while sentence.hasSuffix(".") { sentence.removeLast() }
        sentence = sentence.prefix(1).lowercased() + sentence.dropFirst()
        if sentence.contains("; ") {
            self.init(.usage, sentence: sentence)
        } else {
            self.init(.usage, sentence, "see 'tokenstore \(command.map { "\($0) " } ?? "")--help'")
        }
    }
}
