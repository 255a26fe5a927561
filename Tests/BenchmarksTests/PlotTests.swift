import Testing

@testable import Benchmarks

struct PlotTests {
    @Test func `a logarithmic axis gives equal room to equal factors`() {
        let axis = Axis.logarithmic(1...1_000, from: 100, to: 400)
        #expect(abs(axis.place(1) - 100) < 1e-9)
        #expect(abs(axis.place(10) - 200) < 1e-9)
        #expect(abs(axis.place(1_000) - 400) < 1e-9)
        #expect(axis.place(5_000) == axis.place(1_000))
    }

    @Test func `a linear axis may run upwards`() {
        let axis = Axis.linear(0...1, from: 300, to: 100)
        #expect(axis.place(0.25) == 250)
        #expect(axis.place(-1) == 300)
    }

    @Test func `ticks are round values between the ends`() {
        #expect(Axis.linear(0...715, from: 0, to: 1).ticks == [0, 200, 400, 600])
        #expect(Axis.logarithmic(0.5...20, from: 0, to: 1).ticks == [0.5, 1, 2, 5, 10, 20])
        #expect(Axis.logarithmic(1...100_000, from: 0, to: 1).ticks == [1, 10, 100, 1_000, 10_000, 100_000])
    }

    @Test(arguments: [(3.4...41, 2.0...50), (1...10, 1...10), (0.3...0.31, 0.2...0.5)])
    func `a range is widened to round ends`(_ range: ClosedRange<Double>, _ wanted: ClosedRange<Double>) {
        let widened = range.roundedOutwards
        #expect(abs(widened.lowerBound - wanted.lowerBound) < 1e-9)
        #expect(abs(widened.upperBound - wanted.upperBound) < 1e-9)
    }

    /// The axis goes from 0.5 to 5, so the floor lies at 0.301 of its length.
    @Test func `a ratio and its bar stand where the axis has them`() {
        let drawing = RatioPlot(Results([.sample(.everyKind)])).drawing(width: PlotSize.wide).written
        let axis = Axis.logarithmic(0.5...5, from: 350, to: PlotSize.wide - 130)
        let (bar, median) = (Canvas.text(axis.place(1.25)), Canvas.text(axis.place(2)))
        #expect(bar == "461.4")
        #expect(drawing.contains(#"class="bar" x1="\#(bar)""#))
        // Two is more than the bar allows.
        let diamond = #"class="missed" d="M\#(median) "#
        #expect(drawing.contains(diamond))
    }

    @Test func `a cost stands above its number of accounts`() {
        let drawing = CostPlot(Results([.sample(.everyKind)])).drawing(width: PlotSize.wide).written
        // A third of the way from 1,000 to 1,000,000; half-way from 5 to 20 µs, in factors.
        #expect(drawing.contains(##"<circle class="first" cx="136" cy="137" r="4"/>"##))
        #expect(drawing.contains(">PostgreSQL: not measured<"))
        #expect(drawing.contains(">not measured: 1,000; 100,000; 1,000,000<"))
    }

    @Test func `a count of many cases stands further right, and one that is not zero is a diamond`() {
        let drawing = FaultPlot(Results([.sample(.everyKind)])).drawing(width: PlotSize.wide).written
        let axis = Axis.logarithmic(1...1_000, from: 370, to: PlotSize.wide - 190)
        #expect(drawing.contains(#"class="mark faint" cx="\#(Canvas.text(axis.place(1_000)))""#))
        #expect(drawing.contains(#"class="missed" d="M\#(Canvas.text(axis.place(60))) "#))
        #expect(drawing.contains(">3 of 60<"))
    }

    @Test func `figures have three digits and groups of three`() {
        #expect(Figure.text(1_234_567) == "1,234,567")
        #expect(Figure.text(999) == "999")
        #expect(Figure.text(12.34, .microseconds) == "12.3\u{A0}µs")
        #expect(Figure.text(0.004) == "< 0.01")
        #expect(Figure.text(0) == "0")
        #expect(Figure.range(Spread([1_000, 2_000, 3_000])) == "1,000 – 3,000")
        #expect(Figure.range(Spread(2)).isEmpty)
    }

    @Test func `a text is broken where it is too wide`() {
        #expect(Canvas.lines("ab cd ef", width: Canvas.width(of: "ab cd")) == ["ab cd", "ef"])
        #expect(Canvas.lines("", width: 10).isEmpty)
    }
}
