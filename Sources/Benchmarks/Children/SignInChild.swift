import ArgumentParser
import TokenStorage

/// Signs accounts in as soon as its standard input ends.
struct SignInChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "sign-in", shouldDisplay: false)

    @Argument var database: String
    @Argument var first: Int
    @Argument var count: Int

    func run() throws {
        Gate.wait()
        let store = try TokenStore.open(at: StorePath(database))
        for number in first..<first + count {
            try store.save(SampleAccount(number).response, for: SampleAccount.request())
        }
    }
}
