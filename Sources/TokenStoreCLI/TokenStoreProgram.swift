import ArgumentParser

/// The program behind the executable; others run single commands of it in their own process.
package enum TokenStoreProgram {
    /// Runs the command that the process was started with, and ends the process.
    package static func main() { TokenStoreCommand.main() }

    /// Runs one command; what it prints goes to standard output.
    package static func run(_ arguments: [String]) throws {
        var command = try TokenStoreCommand.parseAsRoot(arguments)
        try command.run()
    }
}
