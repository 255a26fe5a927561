/// Every bar with every row that was measured of it, met or missed.
struct ResultTable {
    let results: Results

    private static let names = ["", "work", "median", "spread", "beside", "ratio", "bar", "result"]
    private static let numbers: Set = ["median", "spread", "ratio"]

    /// Some runs were quick and some not.
    private var isMixed: Bool { Set(results.runs.map(\.isQuick)).count > 1 }

    var table: Markup {
        let head = Self.names.map { name -> Markup in
            .tag("th", ["class": Self.numbers.contains(name) ? "number" : "", "scope": "col"], name)
        }
        let body = results.bars.flatMap { bar -> [Markup] in
            let rows = results.rows(of: bar)
            return rows.isEmpty ? [missing(bar)] : rows.map { line(bar, $0) }
        }
        return .tag("table", [:], [.tag("thead", [:], [.tag("tr", [:], head)]), .tag("tbody", [:], body)])
    }

    private func missing(_ bar: Bar) -> Markup {
        .tag(
            "tr",
            [:],
            [
                .tag("td", ["class": "id"], bar.id), .tag("td", [:], bar.title),
                .tag("td", ["class": "absent", "colspan": "5"], "tokenstore-bench \(bar.command) --only \(bar.id)"),
                .tag("td", ["class": "absent", "data-name": "result"], "not measured"),
            ]
        )
    }

    private func line(_ bar: Bar, _ row: ReportRow) -> Markup {
        let cells = [
            Figure.text(row.value.median, row.unit), Figure.range(row.value), beside(row),
            row.ratio.map(Self.ratio) ?? "", row.limitText,
        ]
        var children: [Markup] = [.tag("td", ["class": "id"], bar.id), work(bar, row)]
        children += zip(Self.names.dropFirst(2), cells).map { name, text in
            .tag("td", ["class": Self.numbers.contains(name) ? "number" : "", "data-name": name], text)
        }
        let result = row.isMet.map { $0 ? "met" : "missed" } ?? ""
        children.append(.tag("td", ["class": result, "data-name": "result"], result))
        return .tag("tr", [:], children)
    }

    /// What was done, and what other programs make of it.
    private func work(_ bar: Bar, _ row: ReportRow) -> Markup {
        let remark = isMixed && results.isQuick(bar) ? " (quick)" : ""
        let peers = row.peers.map { Markup.tag("div", ["class": "peer"], Self.peer($0)) }
        return .tag("td", [:], [.text(row.work + remark)] + peers)
    }

    private static func peer(_ peer: PeerFigure) -> String {
        guard let value = peer.value else { return "\(peer.name): not installed" }
        let version = peer.version.map { " " + $0 } ?? ""
        let tried = peer.tried.map { " of \(Figure.count($0))" } ?? ""
        let range = Figure.range(value)
        return "\(peer.name)\(version): \(Figure.text(value.median, peer.unit))\(tried)"
            + (range.isEmpty ? "" : " (\(range))") + (peer.remark.isEmpty ? "" : "; \(peer.remark)")
    }

    private func beside(_ row: ReportRow) -> String {
        if let tried = row.tried { return "\(Figure.count(tried)) tried" }
        guard let floor = row.floor else { return "" }
        return Figure.text(floor.median, row.unit) + (row.floorName.map { ", " + $0 } ?? "")
    }

    private static func ratio(_ ratio: Spread) -> String {
        let range = Figure.range(ratio)
        return Figure.text(ratio.median) + (range.isEmpty ? "" : " (\(range))")
    }
}
