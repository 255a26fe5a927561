#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What standard output can show: nil for `width` and no colour unless it is a terminal.
struct Terminal {
    let width: Int?
    let hasColour: Bool

    var isTerminal: Bool { width != nil }

    init(isPlain: Bool, environment: [String: String]) {
        guard isatty(STDOUT_FILENO) == 1 else {
            width = nil
            hasColour = false
            return
        }
        width = Self.width(environment)
        let isColourRefused = isPlain || environment["NO_COLOR"].map { !$0.isEmpty } ?? false
        hasColour = !isColourRefused && environment["TERM"] != "dumb" && environment["TERM"] != nil
    }

    private static func width(_ environment: [String: String]) -> Int {
        if let columns = environment["COLUMNS"].flatMap({ Int($0) }), columns > 0 { return columns }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    func styled(_ text: String, _ style: Style?) -> String {
        guard hasColour, let style else { return text }
        return "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m"
    }

    /// The parameter of the control sequence that sets it.
    enum Style: Int {
        case bold = 1
        case dim = 2
        case red = 31
        case green = 32
        case yellow = 33
    }
}
