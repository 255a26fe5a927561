/// What another program makes of a row's work.
struct PeerFigure: Encodable {
    let name: String

    /// Nil where it is not installed; then there is no value either.
    let version: String?
    let unit: ReportRow.Unit
    let value: Spread?

    /// How many were tried, where the value is a count.
    var tried: Int?

    /// In what its work differs from the row's.
    let remark: String

    /// Times are in seconds here, whatever the unit.
    init<P: Peer>(_ peer: P?, _ remark: String, unit: ReportRow.Unit, _ values: [Double]?) {
        name = P.name
        version = peer?.version
        self.unit = unit
        value = values.map { Spread($0).scaled(unit) }
        self.remark = remark
    }

    init<P: Peer>(_ peer: P?, _ remark: String, failures: Int?, of total: Int?) {
        self.init(peer, remark, unit: .count, failures.map { [Double($0)] })
        tried = total
    }
}
