import Foundation

/// `quickstart`: a tour of the store, in which every line that is printed comes from a real call.
@main
struct Quickstart {
    static func main() async throws {
        if let helper = DoomedRefresh(arguments: CommandLine.arguments) { return try await helper.run() }
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
