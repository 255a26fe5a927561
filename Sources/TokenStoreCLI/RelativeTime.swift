/// An instant as seen from now: `in 42 min`, `3 h ago`.
struct RelativeTime: CustomStringConvertible {
    let seconds: Int64

    init(_ instant: Timestamp, from now: Int64) {
        let (difference, overflow) = instant.epoch.subtractingReportingOverflow(now)
        seconds = overflow ? (instant.epoch < 0 ? .min + 1 : .max) : difference
    }

    var description: String {
        let distance = seconds.magnitude
        let text =
            switch distance {
            case 0: "now"
            case ..<60: "\(distance) s"
            case ..<3600: "\(distance / 60) min"
            case ..<172_800: "\(distance / 3600) h"
            case ..<5_184_000: "\(distance / 86400) d"
            case ..<63_072_000: "\(distance / 2_592_000) mo"
            case ..<3_153_600_000: "\(distance / 31_536_000) y"
            default: "100 y+"
            }
        if seconds == 0 { return text }
        return seconds > 0 ? "in \(text)" : "\(text) ago"
    }
}
