/// A figure beside its floor, or a count beside what it was counted in.
struct ReportRow: Encodable {
    /// The name in the list of bars, such as `P2`.
    let bar: String
    let work: String
    let unit: Unit
    let value: Spread
    var floor: Spread?
    var floorName: String?
    var ratio: Spread?
    var peers: [PeerFigure] = []

    /// What it should reach, for the reader; nothing is judged here.
    var limit = ""

    enum Unit: String, Encodable {
        case microseconds = "µs"
        case milliseconds = "ms"
        case seconds = "s"
        case megabytes = "MB"
        case count = ""
    }

    init(_ bar: String, _ work: String, unit: Unit, value: Spread, limit: String = "") {
        self.bar = bar
        self.work = work
        self.unit = unit
        self.value = value
        self.limit = limit
    }

    /// A contest's outcome, whose times are seconds.
    init(_ bar: String, _ work: String, unit: Unit, _ outcome: Contest.Outcome, floor: String, limit: String = "") {
        self.init(bar, work, unit: unit, value: outcome.ours.scaled(unit), limit: limit)
        self.floor = outcome.floor.scaled(unit)
        floorName = floor
        ratio = outcome.ratio
    }

    /// How many went wrong of how many that were tried.
    init(_ bar: String, _ work: String, failures: Int, of total: Int) {
        self.init(bar, work, unit: .count, value: Spread(Double(failures)), limit: "0")
        floor = Spread(Double(total))
        floorName = "tried"
    }
}

extension Spread {
    /// Seconds in another unit of time; a count stays as it is.
    func scaled(_ unit: ReportRow.Unit) -> Spread {
        let factor =
            switch unit {
            case .microseconds: 1e6
            case .milliseconds: 1e3
            default: 1.0
            }
        return Spread([least * factor, median * factor, greatest * factor])
    }
}
