extension String {
    /// One word for a shell, as in a command that an error proposes.
    var shellQuoted: String {
        let isPlain = utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"),
                UInt8(ascii: "-"):
                true
            default: false
            }
        }
        if isPlain, !isEmpty { return self }
        var quoted = "'"
        for character in self { quoted += character == "'" ? "'\\''" : String(character) }
        return quoted + "'"
    }
}
