#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Where values lie between two places of a plot.
struct Axis {
    let values: ClosedRange<Double>

    /// The places of the least and of the greatest value, of which either may be the larger.
    let from: Double
    let to: Double
    let isLogarithmic: Bool

    /// An axis from `values.lowerBound`, which is above zero, in equal steps for equal factors.
    static func logarithmic(_ values: ClosedRange<Double>, from: Double, to: Double) -> Axis {
        Axis(values: values, from: from, to: to, isLogarithmic: true)
    }

    static func linear(_ values: ClosedRange<Double>, from: Double, to: Double) -> Axis {
        Axis(values: values, from: from, to: to, isLogarithmic: false)
    }

    /// The place of a value; one beyond an end is shown at that end.
    func place(_ value: Double) -> Double {
        let value = min(max(value, values.lowerBound), values.upperBound)
        let scale = { (value: Double) in isLogarithmic ? log10(value) : value }
        let share = (scale(value) - scale(values.lowerBound)) / (scale(values.upperBound) - scale(values.lowerBound))
        return from + share * (to - from)
    }

    /// Round values: powers of ten, with 2 and 5 times each where few lie between the ends.
    var ticks: [Double] {
        guard isLogarithmic else { return linearTicks }
        let (first, last) = (Int(log10(values.lowerBound).rounded(.down)), Int(log10(values.upperBound).rounded(.up)))
        let steps = log10(values.upperBound / values.lowerBound) > 3 ? [1.0] : [1, 2, 5]
        return (first...last)
            .flatMap { power in steps.map { $0 * pow(10, Double(power)) } }
            .filter { $0 >= values.lowerBound * 0.999_999 && $0 <= values.upperBound * 1.000_001 }
    }

    /// About five steps of 1, 2 or 5 times a power of ten.
    private var linearTicks: [Double] {
        let width = values.upperBound - values.lowerBound
        let power = pow(10, log10(width / 5).rounded(.down))
        let step = ([1.0, 2, 5, 10].first { width / ($0 * power) <= 6 } ?? 10) * power
        let first = (values.lowerBound / step).rounded(.up)
        let last = (values.upperBound / step).rounded(.down)
        return stride(from: first, through: last, by: 1).map { $0 * step }
    }
}

extension ClosedRange<Double> {
    /// The same, widened to the next of 1, 2 and 5 times a power of ten on both sides.
    var roundedOutwards: ClosedRange<Double> {
        let steps = [1.0, 2, 5, 10]
        let low = pow(10, log10(lowerBound).rounded(.down))
        let high = pow(10, log10(upperBound).rounded(.down))
        let least = steps.map { $0 * low }.last { $0 <= lowerBound * 1.000_001 } ?? low
        let greatest = steps.map { $0 * high }.first { $0 >= upperBound * 0.999_999 } ?? upperBound
        return least...greatest
    }
}
