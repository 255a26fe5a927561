import OAuth

extension String {
    /// One word for a POSIX shell: in single quotes, where every byte but NUL is literal.
    ///
    /// Bytes are compared: together with an accent behind it, a quote is another character, but not to a shell.
    package var shellQuoted: String {
        var quoted: [UInt8] = [Self.quote]
        for byte in utf8 {
            if byte == Self.quote { quoted += Array("'\\''".utf8) } else { quoted.append(byte) }
        }
        return String(decoding: quoted + [Self.quote], as: UTF8.self)
    }

    /// One word of a command that is shown to a person, who may paste it into a shell.
    ///
    /// It is as it was where no shell reads anything into it, else in single quotes. A hint has its command in quotation
    /// marks: pasted together with them, words in single quotes stand outside quotes. So what a shell would run or write
    /// to then is in double quotes, which hold either way. What a terminal would obey, or double quotes do not hold, is
    /// written in digits, as `$'\012'`, which bash, zsh and POSIX.1-2024 know.
    package var shellWord: String {
        if !isEmpty, utf8.allSatisfy(Self.isPlain) { return self }
        var isShown = true
        forEachScalar { isShown = isShown && !$1 }
        guard isShown else { return escapedForShell }
        guard utf8.contains(where: Self.isActive) else { return shellQuoted }
        guard !utf8.contains(where: "'`!".utf8.contains) else { return escapedForShell }
        var quoted = [UInt8(ascii: "\"")]
        for byte in utf8 {
            if "\"$\\".utf8.contains(byte) { quoted.append(UInt8(ascii: "\\")) }
            quoted.append(byte)
        }
        return String(decoding: quoted + [UInt8(ascii: "\"")], as: UTF8.self)
    }

    private var escapedForShell: String {
        var escaped = "$'"
        for byte in utf8 {
            switch byte {
            case 0x20...0x7E where byte != Self.quote && !Self.isActive(byte):
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            default:
                let digits = String(byte, radix: 8)
                escaped += "\\" + String(repeating: "0", count: 3 - digits.count) + digits
            }
        }
        return escaped + "'"
    }

    private static let quote = UInt8(ascii: "'")

    /// Whether a shell does more with a byte outside quotes than to put words together.
    private static func isActive(_ byte: UInt8) -> Bool { "$`;&|<>()!\\".utf8.contains(byte) }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."), UInt8(ascii: "_"),
            UInt8(ascii: "-"), UInt8(ascii: ":"), UInt8(ascii: "@"), UInt8(ascii: "+"), UInt8(ascii: ","):
            true
        default: false
        }
    }
}
