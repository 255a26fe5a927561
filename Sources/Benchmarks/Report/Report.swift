#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Rows as they come in: a line each for a person, or one JSON document at the end.
struct Report {
    private(set) var rows: [ReportRow] = []
    private let isJSON: Bool

    private static let widths = [4, 62, 26, 36, 18, 26]

    init(isJSON: Bool) {
        self.isJSON = isJSON
        if !isJSON { Self.print(["bar", "work", "measured", "beside", "ratio", "to reach", "peer"]) }
    }

    mutating func add(_ row: ReportRow) {
        rows.append(row)
        guard !isJSON else { return }
        var floor = ""
        if let spread = row.floor {
            floor = Self.text(spread, row.unit) + (row.floorName.map { " " + $0 } ?? "")
        }
        let ratio = row.ratio.map { Self.text($0, .count) } ?? ""
        let peers = row.peers.map(Self.text)
        let limit = row.limit + (row.isMet.map { $0 ? ", met" : ", not met" } ?? "")
        Self.print([row.bar, row.work, Self.text(row.value, row.unit), floor, ratio, limit, peers.first ?? ""])
        for peer in peers.dropFirst() { Self.print(Self.widths.map { _ in "" } + [peer]) }
    }

    func finish() throws {
        guard isJSON else {
            let versions = rows.flatMap(\.peers).compactMap { peer in peer.version.map { "\(peer.name) \($0)" } }
            for version in Set(versions).sorted() { Swift.print("measured beside:", version) }
            return
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys]
        Swift.print(String(decoding: try encoder.encode(rows), as: UTF8.self))
    }

    private static func print(_ cells: [String]) {
        let padded = zip(cells, widths + [0]).map { cell, width in
            cell + String(repeating: " ", count: max(0, width - cell.count))
        }
        Swift.print(padded.joined(separator: "  "))
        fflush(nil)
    }

    static func text(_ peer: PeerFigure) -> String {
        guard let value = peer.value else { return "\(peer.name) is not installed" }
        let tried = peer.tried.map { " of \($0)" } ?? ""
        return "\(text(value, peer.unit))\(tried) \(peer.name)" + (peer.remark.isEmpty ? "" : ", \(peer.remark)")
    }

    private static func text(_ spread: Spread, _ unit: ReportRow.Unit) -> String {
        let name = unit.rawValue.isEmpty ? "" : " " + unit.rawValue
        guard spread.least < spread.greatest else { return digits(spread.median) + name }
        return "\(digits(spread.median)) (\(digits(spread.least))–\(digits(spread.greatest)))\(name)"
    }

    /// Three digits that mean something.
    private static func digits(_ number: Double) -> String {
        if number == number.rounded() || number >= 100 { return String(Int(number.rounded())) }
        let hundredths = Int((number * (number >= 10 ? 10 : 100)).rounded()) * (number >= 10 ? 10 : 1)
        let fraction = String(hundredths % 100 + 100).dropFirst()
        return "\(hundredths / 100).\(number >= 10 ? fraction.dropLast() : fraction)"
    }
}

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

    /// What it should reach, for the reader.
    var limit = ""

    /// Whether it does; nil where that is left to the reader.
    var isMet: Bool?

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

    /// A measurement's outcome, whose times are seconds.
    init(
        _ bar: String,
        _ work: String,
        unit: Unit,
        _ outcome: PairedMeasurement.Outcome,
        floor: String,
        limit: String = ""
    ) {
        self.init(bar, work, unit: unit, value: outcome.ours.scaled(unit), limit: limit)
        self.floor = outcome.floor.scaled(unit)
        floorName = floor
        ratio = outcome.ratio
    }

    /// How many went wrong of how many that were tried.
    init(_ bar: String, _ work: String, failures: Int, of total: Int) {
        self.init(bar, work, unit: .count, value: Spread(Double(failures)), limit: "0")
        floor = Spread(Double(total))
        floorName = Self.tried
    }

    private static let tried = "tried"

    /// Whether anything went wrong of what was counted.
    var isFailure: Bool { floorName == Self.tried && value.greatest > 0 }
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
