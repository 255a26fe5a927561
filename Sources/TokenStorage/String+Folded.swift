extension String {
    /// The form in which identifiers are compared: without surrounding space or regard to case.
    package var folded: String {
        let bytes = utf8
        // Most identifiers are folded already, and making a new string costs more than looking.
        let isPlain = bytes.allSatisfy { $0 > 0x20 && $0 < 0x7F && !(UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0) }
        if isPlain { return self }
        return String(drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()).lowercased()
    }
}
