/// A figure beside its floor, or a count beside what it was counted in.
struct ReportRow: Codable, Equatable {
    /// The name in the list of bars, such as `P2`.
    let bar: String
    let work: String
    let unit: Unit
    let value: Spread
    private(set) var floor: Spread?
    private(set) var floorName: String?
    private(set) var ratio: Spread?
    private(set) var limit: Limit?

    /// Whether the medians are within the limit; nil where that is left to the reader.
    private(set) var isMet: Bool?

    /// Of how many cases the value counts those that went wrong.
    private(set) var tried: Int?

    var peers: [PeerFigure] = []
    var cost: CostPoint?

    /// What each of many processes took, where the value is about the last of them; in the unit of the row.
    var each: [Double]?

    enum Unit: String, Codable {
        case microseconds = "µs"
        case milliseconds = "ms"
        case seconds = "s"
        case megabytes = "MB"
        case count = ""
    }

    init(
        _ bar: String,
        _ work: String,
        unit: Unit,
        value: Spread,
        floor: Spread? = nil,
        named floorName: String? = nil,
        ratio: Spread? = nil,
        limit: Limit? = nil
    ) {
        (self.bar, self.work, self.unit, self.value) = (bar, work, unit, value)
        (self.floor, self.floorName, self.ratio, self.limit) = (floor, floorName, ratio, limit)
        isMet = limit?.isMet(by: value, ratio: ratio)
    }

    /// A measurement's outcome, whose times are seconds.
    init(
        _ bar: String,
        _ work: String,
        unit: Unit,
        _ outcome: PairedMeasurement.Outcome,
        floor: String,
        limit: Limit? = nil
    ) {
        self.init(
            bar,
            work,
            unit: unit,
            value: outcome.ours.scaled(unit),
            floor: outcome.floor.scaled(unit),
            named: floor,
            ratio: outcome.ratio,
            limit: limit
        )
    }

    /// How many went wrong of how many that were tried.
    init(_ bar: String, _ work: String, failures: Int, of total: Int) {
        self.init(bar, work, unit: .count, value: Spread(Double(failures)), limit: .value(0))
        tried = total
    }

    /// Whether anything went wrong of what was counted.
    var isFailure: Bool { tried != nil && value.greatest > 0 }

    /// What it should reach, for the reader.
    var limitText: String { limit?.text(unit) ?? "" }
}

/// What a row has to reach, as a figure in its unit, as a ratio to its floor, or as both.
struct Limit: Codable, Equatable {
    private(set) var value: Double?
    private(set) var ratio: Double?

    /// Whether more is better.
    private(set) var isLeast = false

    static func value(_ value: Double) -> Limit { Limit(value: value) }

    static func ratio(_ ratio: Double) -> Limit { Limit(ratio: ratio) }

    /// A figure that is not to grow; by how much it may is left to the reader.
    static let flat = Limit()

    init(value: Double? = nil, ratio: Double? = nil, isLeast: Bool = false) {
        (self.value, self.ratio, self.isLeast) = (value, ratio, isLeast)
    }

    func isMet(by figure: Spread, ratio measured: Spread?) -> Bool? {
        let pairs: [(median: Double?, limit: Double?)] = [(figure.median, value), (measured?.median, ratio)]
        let verdicts = pairs.compactMap { median, limit -> Bool? in
            guard let limit else { return nil }
            guard let median else { return false }
            return isLeast ? median >= limit : median <= limit
        }
        return verdicts.isEmpty ? nil : verdicts.allSatisfy(\.self)
    }

    func text(_ unit: ReportRow.Unit) -> String {
        let sign = isLeast ? "≥" : "≤"
        let name = unit.rawValue.isEmpty ? "" : " " + unit.rawValue
        let figure = value.map { "\(sign) \(Report.plain($0))\(name)" }
        let factor = ratio.map { "\(sign) \(Report.plain($0)) ×" }
        return self == .flat ? "flat" : [figure, factor].compactMap(\.self).joined(separator: ", ")
    }
}

/// Where a row stands in the plot of cost against number of accounts.
struct CostPoint: Codable, Equatable {
    enum Operation: String, Codable, CaseIterable {
        case lookup
        case signIn = "sign-in"
    }

    enum Engine: String, Codable, CaseIterable {
        case sqlite = "SQLite"
        case postgreSQL = "PostgreSQL"
    }

    let operation: Operation
    let engine: Engine
    let accounts: Int
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
