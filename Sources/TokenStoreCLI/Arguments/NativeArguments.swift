import ArgumentParser
import NativeAuthentication
import OAuth

/// Who signs in without a browser, and where the answers come from.
struct NativeArguments: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The username, such as an e-mail address. The command asks for it if it is missing.",
            valueName: "address"
        )
    )
    var username: String?

    @Option(
        help: ArgumentHelp(
            "Read codes from this file descriptor, one per line; an empty line requests a new code.",
            valueName: "fd"
        )
    )
    var codeFrom: Int32?

    @Option(help: ArgumentHelp("Read passwords from this file descriptor, one per line.", valueName: "fd"))
    var passwordFrom: Int32?

    @Option(
        help: ArgumentHelp(
            "The second factor: its number in the list, its id, or email or sms where one method is so.",
            valueName: "method"
        )
    )
    var secondFactor: String?

    @Option(help: ArgumentHelp("The address or number to register as a second factor.", valueName: "contact"))
    var contact: String?

    @Option(
        help: ArgumentHelp("What the client supports: oob (codes), password, or both.", valueName: "types"),
        transform: { text in
            let words = text.split { $0 == "," || $0.isWhitespace }
            let known: [Substring: ChallengeTypes] = ["oob": .oob, "password": .password, "redirect": []]
            let types = try words.map { word in
                guard let type = known[word] else {
                    throw ValidationError("'\(word)' is not a challenge type", hint: "give oob, password or both")
                }
                return type
            }
            return ChallengeTypes(types)
        }
    )
    var challengeTypes: ChallengeTypes = [.oob, .password]

    func validate() throws {
        let descriptors = [codeFrom, passwordFrom].compactMap(\.self)
        guard descriptors.allSatisfy({ $0 >= 0 }) else {
            throw ValidationError("a descriptor is less than 0", hint: "give the number of an open one")
        }
        // Before the store is opened, whose file would get the number of one that is not open.
        for descriptor in descriptors { NamedDescriptor(number: descriptor).reserve() }
    }

    /// Whether anything but the defaults is given.
    var isGiven: Bool {
        let texts = [username, secondFactor, contact].compactMap(\.self)
        return !texts.isEmpty || codeFrom != nil || passwordFrom != nil || challengeTypes != [.oob, .password]
    }
}

/// The tenant with native authentication, and the client of it.
struct NativeTenant: ParsableArguments {
    @Option(
        help: ArgumentHelp("The tenant: https://NAME.ciamlogin.com or https://HOST/TENANT.", valueName: "url"),
        transform: { text in
            do { return try Authority(parsing: text) } catch { throw ValidationError(error) }
        }
    )
    var authority: Authority

    @Option(help: ArgumentHelp("The client, as it is registered there.", valueName: "id"))
    var clientID: String

    func validate() throws {
        do {
            _ = try NativeAuthConfiguration(clientID: clientID, authority: authority)
        } catch {
            throw ValidationError(error)
        }
    }
}
