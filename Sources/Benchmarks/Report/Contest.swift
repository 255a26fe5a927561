/// Two ways to do the same work, measured by turns so that whatever else the machine does meets both.
struct Contest {
    let rounds: Int

    /// How often the sides change within a round.
    let turns: Int

    struct Outcome {
        let ours: Spread
        let floor: Spread

        /// Of the ratios of each round.
        let ratio: Spread
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
