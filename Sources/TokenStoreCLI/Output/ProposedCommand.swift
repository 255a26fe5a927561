import ArgumentParser
import OAuth
import Sealing
import SignIn

/// A command that a hint proposes, word by word as a shell reads it.
struct ProposedCommand {
    private var words: [String]

    init(_ name: String) { words = ["tokenstore", name] }

    /// The command that signs in on the issuer's page as `request` says.
    init(
        signingIn request: InteractiveRequest,
        at authority: Authority,
        client: String,
        _ redirect: RedirectArguments?,
        _ network: NetworkArguments
    ) {
        self.init(signingInAt: authority, client: client, request.scope, loginHint: request.loginHint)
        add("--prompt", request.prompt?.rawValue)
        add("--domain-hint", request.domainHint)
        add("--claims", request.claims?.serialized)
        add(request)
        if let redirect {
            if redirect.noBrowser { add("--no-browser") }
            if redirect.redirectURI != .anyPort { add("--redirect-uri", redirect.redirectURI.text) }
            if redirect.responseMode != .query { add("--response-mode", redirect.responseMode.rawValue) }
        }
        add("--ca-file", network.caFile)
    }

    /// The command that signs in, with what every way to do it takes.
    init(signingInAt authority: Authority, client: String, _ scope: Scope, loginHint: String? = nil) {
        self.init("login")
        if let issuer = authority.issuer { add("--issuer", issuer) } else { add("--authority", authority.url) }
        add("--client-id", client)
        add("--login-hint", loginHint)
        add("--scope", scope.isEmpty ? nil : scope.text)
    }

    /// Adds what a sign-in on any device asks for besides the scope.
    mutating func add(_ request: InteractiveRequest) {
        for (name, value) in request.extraParameters.sorted(by: { $0.key < $1.key }) {
            add("--parameter", "\(name)=\(value)")
        }
        if !request.addsScopes { add("--exact-scope") }
    }

    /// Adds an option with its value; nil: not.
    mutating func add(_ option: String, _ value: String?) {
        guard let value else { return }
        words += Self.words(option, value)
    }

    /// Adds an option without a value.
    mutating func add(_ option: String) { words.append(option) }

    /// Adds what says which store is meant, where the command that failed was told so by its arguments.
    mutating func add(_ arguments: StoreArguments) {
        add("--store", arguments.store)
        add("--key", arguments.key.map { "\($0)" })
    }

    var text: String { words.map(\.shellWord).joined(separator: " ") }

    /// An option and its value, in one word where the value would be taken for an option.
    static func words(_ option: String, _ value: String) -> [String] {
        value.utf8.first == UInt8(ascii: "-") ? ["\(option)=\(value)"] : [option, value]
    }
}

/// How the arguments of a command say which store is meant, and where its key is.
struct GivenStore {
    var store: String?
    var key: String?

    /// The options that a proposed command lacks to be about the same store.
    fileprivate func options(missingIn command: Substring) -> String {
        // A copy names its two stores without an option, and the key of a rekey is the new one.
        let isCopy = command.hasPrefix("copy")
        let options = [("--store", isCopy ? nil : store), ("--key", isCopy || command.hasPrefix("rekey") ? nil : key)]
        let missing = options.filter { !command.contains($0.0) && !command.contains("--help") }
        let words = missing.flatMap { name, value in value.map { ProposedCommand.words(name, $0) } ?? [] }
        return words.map { " " + $0.shellWord }.joined()
    }
}

extension GivenStore {
    /// What `--store` and `--key` say, also where the arguments as a whole cannot be read.
    init(in arguments: ArraySlice<String>) {
        let options = arguments.prefix { $0 != "--" }
        func value(of name: String) -> String? {
            guard let index = options.lastIndex(where: { $0 == name || $0.hasPrefix(name + "=") }) else { return nil }
            return options[index].droppingPrefix(name + "=").map(String.init) ?? options[(index + 1)...].first
        }
        // There it is the new one, or that of the other store.
        let names = TokenStoreCommand.commands(named: arguments).compactMap { $0.configuration.commandName }
        let isOther = ["rekey", "copy"].contains(names.first)
        self.init(store: value(of: "--store"), key: isOther ? nil : value(of: "--key"))
    }
}

extension String {
    /// The text in which each command in quotation marks, such as `'tokenstore list'`, says which store is meant.
    ///
    /// Advice works when it is followed to the letter, and without the options it would be about another store.
    func naming(_ given: GivenStore) -> String {
        var (text, rest) = ("", self[...])
        while let start = rest.firstRange(of: "'tokenstore "), let end = rest.endOfCommand(from: start.upperBound) {
            let command = rest[start.upperBound..<end]
            // What stands behind two hyphens is another program's.
            let place = command.firstRange(of: " -- ")?.lowerBound ?? end
            text += rest[..<place] + given.options(missingIn: command) + rest[place..<end]
            rest = rest[end...]
        }
        return text + rest
    }
}

extension Substring {
    /// The quotation mark behind a command, past those around words of it.
    fileprivate func endOfCommand(from start: Index) -> Index? {
        var (isInWord, isEscaped, mayBegin) = (false, false, true)
        for index in utf8[start...].indices {
            let byte = utf8[index]
            if isEscaped {
                // Of a word with a quotation mark in it, another part follows behind that mark.
                (isEscaped, mayBegin) = (false, true)
                continue
            }
            if byte == UInt8(ascii: "'") {
                guard isInWord || mayBegin else { return index }
                isInWord.toggle()
            }
            isEscaped = byte == UInt8(ascii: "\\") && !isInWord
            mayBegin = " =$".utf8.contains(byte)
        }
        return nil
    }
}
