import ArgumentParser

/// A span of time as people write it: `90s`, `15m`, `12h`, `30d`, `8w`.
struct Age {
    let seconds: Int64

    init(parsing text: String) throws {
        let units: [Character: Int64] = ["s": 1, "m": 60, "h": 3600, "d": 86400, "w": 604_800]
        guard let unit = text.last.flatMap({ units[$0] }), let number = Int64(text.dropLast()), number >= 0 else {
            throw ValidationError("'\(text)' is no age; write one such as 90s, 15m, 12h, 30d or 8w")
        }
        let (seconds, overflow) = number.multipliedReportingOverflow(by: unit)
        guard !overflow else { throw ValidationError("'\(text)' is too long; write one such as 30d or 8w") }
        self.seconds = seconds
    }
}
