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
        var floor = row.tried.map { "\($0) tried" } ?? ""
        if let spread = row.floor {
            floor = Self.text(spread, row.unit) + (row.floorName.map { " " + $0 } ?? "")
        }
        let ratio = row.ratio.map { Self.text($0, .count) } ?? ""
        let peers = row.peers.map(Self.text)
        let limit = row.limitText + (row.isMet.map { $0 ? ", met" : ", not met" } ?? "")
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

    static func text(_ spread: Spread, _ unit: ReportRow.Unit) -> String {
        let name = unit.rawValue.isEmpty ? "" : " " + unit.rawValue
        guard spread.least < spread.greatest else { return digits(spread.median) + name }
        return "\(digits(spread.median)) (\(digits(spread.least))–\(digits(spread.greatest)))\(name)"
    }

    /// The same without zeros at the end, for figures that were chosen.
    static func plain(_ number: Double) -> String {
        let digits = digits(number)
        guard digits.contains(".") else { return digits }
        let end = digits.reversed().drop { $0 == "0" }.drop { $0 == "." }
        return String(end.reversed())
    }

    /// Three digits that mean something.
    static func digits(_ number: Double) -> String {
        if number == number.rounded() || number >= 100 { return String(Int(number.rounded())) }
        let hundredths = Int((number * (number >= 10 ? 10 : 100)).rounded()) * (number >= 10 ? 10 : 1)
        let fraction = String(hundredths % 100 + 100).dropFirst()
        return "\(hundredths / 100).\(number >= 10 ? fraction.dropLast() : fraction)"
    }
}
