import ArgumentParser

/// Runs a program and prints the most memory it had, in megabytes.
struct PeakChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "peak", shouldDisplay: false)

    @Argument var command: [String]

    func run() throws {
        let ended = try ChildProcess(command[0], Array(command.dropFirst())).run()
        guard ended.isSuccess else { throw BenchFailure("\(command[0]) failed") }
        print(ended.peakMegabytes, terminator: "")
    }
}
