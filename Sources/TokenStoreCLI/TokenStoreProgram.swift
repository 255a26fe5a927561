import ArgumentParser
import CProcess

/// The program behind the executable; others run single commands of it in their own process.
package enum TokenStoreProgram {
    /// Runs the command that the process was started with, and ends the process.
    package static func main() {
        // Tokens and passphrases will be in memory.
        CProcessForbidDumps()
        TokenStoreCommand.main()
    }

    /// Runs one command; what it prints goes to standard output.
    package static func run(_ arguments: [String]) throws {
        var command = try TokenStoreCommand.parseAsRoot(arguments)
        try command.run()
    }

    /// What the program would say of arguments, and end with, instead of running a command or showing help; nil: it would.
    package static func objection(to arguments: [String]) -> (text: String, status: Int32)? {
        do {
            _ = try TokenStoreCommand.command(arguments[...])
            return nil
        } catch {
            guard let failure = TokenStoreCommand.failure(for: error, arguments[...]) else { return nil }
            return (ErrorReport(failure: failure).text, failure.status.code)
        }
    }
}
