import ArgumentParser
import Sealing
import TokenStorage

/// Arguments whose usual options can be read without ArgumentParser.
///
/// It asks the runtime some fifty times whether a type conforms to a protocol, and most answers take a look at every
/// conformance in the program: half of the instructions of a `list`. So the calls that prompts and scripts make all the
/// time are read here. Whatever is not surely right is left to ArgumentParser, which alone knows help, mistakes and
/// completions.
protocol DirectArguments: ParsableArguments {
    /// Gives every property the value that it has where its option is left out; until then it cannot be read.
    mutating func setDefaults()

    /// Sets what an option says, with `value` if it takes one.
    ///
    /// - Returns: Whether it could be; if not, ArgumentParser reads the whole call.
    mutating func set(_ option: String, to value: () -> String?) -> Bool

    /// Throws unless the arguments fit together, those of its groups included.
    func validateAll() throws
}

extension DirectArguments {
    /// No option is given.
    static var withoutOptions: Self {
        var arguments = Self()
        arguments.setDefaults()
        return arguments
    }

    /// The arguments that `words` are; nil if ArgumentParser has to read them.
    static func read(_ words: ArraySlice<String>) throws -> Self? {
        var arguments = withoutOptions
        var rest = words
        while let word = rest.popFirst() {
            guard word.utf8.first == dash else { return nil }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            var value = parts.count == 2 ? String(parts[1]) : nil
            let isLong = word.utf8.dropFirst().first == dash
            guard isLong || value == nil, value?.utf8.isEmpty != true else { return nil }
            let isSet = arguments.set(String(parts[0])) {
                defer { value = nil }
                // A word that begins with a dash may be an option.
                return value ?? rest.first.flatMap { $0.utf8.first == dash ? nil : rest.removeFirst() }
            }
            guard isSet, value == nil else { return nil }
        }
        try arguments.validateAll()
        return arguments
    }

    func validateAll() throws {
        var arguments = self
        try arguments.validate()
    }

    private static var dash: UInt8 { UInt8(ascii: "-") }

    fileprivate static func put(_ value: String?, in property: inout String?) -> Bool {
        property = value
        return value != nil
    }
}

extension ListCommand: DirectArguments {
    mutating func setDefaults() {
        tokens = false
        expired = false
        limit = nil
        sort = .username
        columns = nil
        format = nil
        filters = .withoutOptions
        arguments = .withoutOptions
    }

    mutating func set(_ option: String, to value: () -> String?) -> Bool {
        switch option {
        case "--tokens": tokens = true
        case "--expired": expired = true
        default: return filters.set(option, to: value) || arguments.set(option, to: value)
        }
        return true
    }

    func validateAll() throws {
        try filters.validateAll()
        try arguments.validateAll()
        try validate()
    }
}

extension TokenCommand: DirectArguments {
    mutating func setDefaults() {
        format = nil
        envName = nil
        export = false
        output = nil
        watch = false
        token = .withoutOptions
        filters = .withoutOptions
        network = .withoutOptions
        arguments = .withoutOptions
    }

    mutating func set(_ option: String, to value: () -> String?) -> Bool {
        guard option == "--format" else {
            return token.set(option, to: value) || filters.set(option, to: value) || network.set(option, to: value)
                || arguments.set(option, to: value)
        }
        format = value().flatMap { TokenFormat(rawValue: $0) }
        return format != nil
    }

    func validateAll() throws {
        try token.validateAll()
        try filters.validateAll()
        try network.validateAll()
        try arguments.validateAll()
        try validate()
    }
}

extension TokenArguments: DirectArguments {
    mutating func setDefaults() {
        scope = []
        minTTL = 0
        forceRefresh = false
        claims = nil
        authority = nil
        maxSessionAge = nil
        extendedLifetime = false
        familyTokens = false
        idToken = false
        cached = false
    }

    mutating func set(_ option: String, to value: () -> String?) -> Bool {
        switch option {
        case "--scope", "-s":
            guard let value = value() else { return false }
            scope.append(value)
        case "--min-ttl":
            guard let seconds = value().flatMap({ Int64($0) }) else { return false }
            minTTL = seconds
        case "--force-refresh": forceRefresh = true
        case "--id-token": idToken = true
        case "--cached": cached = true
        default: return false
        }
        return true
    }
}

extension AccountFilters: DirectArguments {
    mutating func setDefaults() {
        account = nil
        policy = nil
        tenant = nil
        issuer = nil
        clientID = nil
        conditions = []
        tag = []
    }

    mutating func set(_ option: String, to value: () -> String?) -> Bool {
        switch option {
        case "--account", "-a": return Self.put(value(), in: &account)
        case "--policy": return Self.put(value(), in: &policy)
        case "--tenant": return Self.put(value(), in: &tenant)
        case "--issuer": return Self.put(value(), in: &issuer)
        case "--client-id": return Self.put(value(), in: &clientID)
        default: return false
        }
    }
}

extension NetworkArguments: DirectArguments {
    mutating func setDefaults() { caFile = nil }

    mutating func set(_ option: String, to value: () -> String?) -> Bool {
        guard option == "--ca-file" else { return false }
        return Self.put(value(), in: &caFile)
    }
}

extension StoreArguments: DirectArguments {
    mutating func setDefaults() {
        store = nil
        key = nil
        json = false
        quiet = false
        noInput = false
        color = nil
        noColor = false
        timeout = Self.usualTimeout
        logLevel = .warning
    }

    mutating func set(_ option: String, to value: () -> String?) -> Bool {
        switch option {
        case "--store": return Self.put(value(), in: &store)
        case "--key":
            key = value().flatMap { try? KeySource(argument: $0) }
            return key != nil
        case "--timeout":
            guard let seconds = value().flatMap({ Double($0) }) else { return false }
            timeout = seconds
        case "--json", "-j": json = true
        case "--quiet", "-q": quiet = true
        case "--no-input": noInput = true
        default: return false
        }
        return true
    }
}
