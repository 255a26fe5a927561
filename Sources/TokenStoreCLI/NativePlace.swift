import ArgumentParser
import NativeAuthentication
import OAuth

/// The tenant with native authentication, and the client of it.
struct NativePlace: ParsableArguments {
    @Option(
        help: ArgumentHelp("The tenant: https://NAME.ciamlogin.com or https://HOST/TENANT.", valueName: "url"),
        transform: { text in
            do { return try Authority(parsing: text) } catch { throw ValidationError("\(error)") }
        }
    )
    var authority: Authority

    @Option(help: ArgumentHelp("The client, as it is registered there.", valueName: "id"))
    var clientID: String

    func validate() throws {
        do {
            _ = try NativeAuthConfiguration(clientID: clientID, authority: authority)
        } catch {
            throw ValidationError("\(error)")
        }
    }
}
