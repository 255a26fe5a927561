import OAuth

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An instant in Unix seconds, written as [RFC 3339](https://www.rfc-editor.org/rfc/rfc3339) in UTC.
///
/// By integer arithmetic, because a calendar costs more than all else in a list of ten thousand accounts.
struct Timestamp: CustomStringConvertible {
    let epoch: Int64

    /// RFC 3339 has four digits for a year; an instant before or after those is the nearest that it can write.
    init(_ epoch: Int64) { self.epoch = min(max(epoch, Self.first), .lastUnixSecond) }

    init?(_ epoch: Int64?) {
        guard let epoch else { return nil }
        self.init(epoch)
    }

    init(_ date: Date) { self.init(date.unixSeconds) }

    init?(_ date: Date?) {
        guard let date else { return nil }
        self.init(date)
    }

    var description: String {
        var bytes: [UInt8] = []
        write(to: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    func write(to bytes: inout [UInt8]) {
        let (days, secondOfDay) = epoch.flooredDivision(by: 86400)
        let (year, month, day) = Self.civil(from: days)
        bytes.append(digits: year, count: 4)
        bytes.append(UInt8(ascii: "-"))
        bytes.append(digits: month, count: 2)
        bytes.append(UInt8(ascii: "-"))
        bytes.append(digits: day, count: 2)
        bytes.append(UInt8(ascii: "T"))
        bytes.append(digits: secondOfDay / 3600, count: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(digits: secondOfDay / 60 % 60, count: 2)
        bytes.append(UInt8(ascii: ":"))
        bytes.append(digits: secondOfDay % 60, count: 2)
        bytes.append(UInt8(ascii: "Z"))
    }

    private static let first: Int64 = -62_167_219_200

    /// The date of a day counted from 1970-01-01, in years that begin in March so that the leap day comes last
    /// (<https://howardhinnant.github.io/date_algorithms.html#civil_from_days>).
    private static func civil(from days: Int64) -> (year: Int64, month: Int64, day: Int64) {
        let (era, dayOfEra) = (days + 719_468).flooredDivision(by: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let shifted = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * shifted + 2) / 5 + 1
        let month = shifted < 10 ? shifted + 3 : shifted - 9
        return (yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month, day)
    }
}

extension Int64 {
    fileprivate func flooredDivision(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension [UInt8] {
    fileprivate mutating func append(digits number: Int64, count: Int) {
        var divisor: Int64 = count == 4 ? 1000 : 10
        for _ in 0..<count {
            append(UInt8(ascii: "0") + UInt8(number / divisor % 10))
            divisor /= 10
        }
    }
}

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
