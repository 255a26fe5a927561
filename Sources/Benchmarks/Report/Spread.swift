/// The median of several measurements, and how far they lie apart.
struct Spread: Encodable {
    let median: Double
    let least: Double
    let greatest: Double

    init(_ values: [Double]) {
        precondition(!values.isEmpty, "a spread is of at least one value")
        let sorted = values.sorted()
        median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
        least = sorted[0]
        greatest = sorted[sorted.count - 1]
    }

    init(_ value: Double) { self.init([value]) }
}
