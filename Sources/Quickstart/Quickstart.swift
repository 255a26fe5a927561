import ArgumentParser
import Foundation

/// `quickstart`: a tour of the store, in which every line that is printed comes from a real call.
@main
struct Quickstart: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quickstart",
        abstract: "A tour of tokenstore, with an identity provider on this machine.",
        discussion: """
            Signs two people in, calls two APIs, lets tokens end and kills a process in the middle of a refresh. The \
            store it leaves in the temporary directory is there to look at.
            """,
        subcommands: [DoomedRefresh.self]
    )

    func run() async throws {
        try await Tour.start { tour in
            try await tour.signIn()
            try await tour.callAPIs()
            try await tour.outliveTokens()
            try await tour.surviveACrash()
            try tour.lookForSecrets()
            try tour.inspect()
        }
    }
}

/// Prints a heading of the tour.
func chapter(_ title: String) { say("\n\(title)") }

/// Prints a line at once, so that it stands before what others print.
func say(_ line: String) {
    print(line)
    fflush(nil)
}
