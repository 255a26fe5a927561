/// Two ways to do the same work, measured by turns, so that other work of the machine slows both.
struct PairedMeasurement {
    let rounds: Int

    /// How often the sides change within a round.
    let turns: Int

    struct Outcome {
        let ours: Spread
        let floor: Spread

        /// Of the ratios of each round.
        let ratio: Spread

        /// The outcome for each of so many parts of a piece.
        func divided(by count: Double) -> Outcome {
            Outcome(ours: ours.divided(by: count), floor: floor.divided(by: count), ratio: ratio)
        }
    }

    /// Seconds per piece of work; a turn does `pieces` of it, and each body is told which piece comes next.
    func run(
        pieces: Int = 1,
        ours: (Int) throws -> Void,
        floor: (Int) throws -> Void
    ) rethrows -> Outcome {
        var next = 0
        var (ourRounds, floorRounds): ([Double], [Double]) = ([], [])
        for _ in 0..<rounds {
            var (ourTurns, floorTurns): ([Double], [Double]) = ([], [])
            for _ in 0..<turns {
                let range = next..<next + pieces
                next += pieces
                ourTurns.append(try Stopwatch.seconds { for piece in range { try ours(piece) } } / Double(pieces))
                floorTurns.append(try Stopwatch.seconds { for piece in range { try floor(piece) } } / Double(pieces))
            }
            // The median turn is one that nothing else interrupted.
            ourRounds.append(Spread(ourTurns).median)
            floorRounds.append(Spread(floorTurns).median)
        }
        return Outcome(
            ours: Spread(ourRounds),
            floor: Spread(floorRounds),
            ratio: Spread(zip(ourRounds, floorRounds).map { $0 / $1 })
        )
    }
}

/// The median of several measurements, and how far they lie apart.
struct Spread: Codable, Equatable {
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

    func divided(by divisor: Double) -> Spread { Spread([least, median, greatest].map { $0 / divisor }) }
}

enum Stopwatch {
    /// How long `body` takes.
    static func seconds(_ body: () throws -> Void) rethrows -> Double {
        let start = now()
        try body()
        return now() - start
    }

    private static let origin = ContinuousClock.now

    static func now() -> Double { origin.duration(to: .now) / .seconds(1) }
}
