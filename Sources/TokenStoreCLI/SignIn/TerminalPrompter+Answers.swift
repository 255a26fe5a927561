import NativeAuthentication
import OAuth

extension TerminalPrompter {
    /// Who it is about.
    func username() throws -> String {
        if let username = answers.username {
            if let flaw = flaw(of: username) {
                throw CommandFailure(.usage, flaw, "give one such as me@example.org with --username")
            }
            return username
        }
        guard mayAsk else { throw noTerminal("--username ADDRESS") }
        while true {
            let username = try line("E-mail address: ")
            guard let flaw = flaw(of: username) else { return username }
            tell("\(flaw); type one such as me@example.org")
        }
    }

    /// Why no issuer is asked about a username; which ones there are it knows, but a new one is mailed a code.
    private func flaw(of username: String) -> String? {
        if username.allSatisfy(\.isWhitespace) { return "the username is blank" }
        if username.hasControlCharacters { return "the username has a control character" }
        return deed == .signUp && !username.isAddress ? "'\(username)' is not an e-mail address" : nil
    }

    /// The code that was sent; nil: another one is wanted.
    func code(_ delivery: CodeDelivery) throws -> Secret? {
        let place = "\(delivery.sentTo) (\(delivery.codeLength) characters)"
        let code: Secret
        if let descriptor = answers.codeFrom {
            if refusal == nil { note("a code was sent to \(place)") }
            code = try read(descriptor, "a code")
        } else {
            guard mayAsk else { throw unanswered("the code sent to \(delivery.sentTo)", "--code-from FD") }
            code = try typed("Code sent to \(place), Return alone for another: ", isSecret: true)
        }
        let trimmed = code.trimmed
        guard trimmed.count == 0 else { return trimmed }
        if answers.codeFrom != nil {
            newCodes += 1
            guard newCodes <= Self.tries else {
                let problem = "the script asked for more than \(Self.tries) new codes"
                throw CommandFailure(.failure, problem, "write the newest code to the file descriptor")
            }
        }
        return nil
    }

    /// The password; a new one is typed twice, because a slip of the finger would lock the account.
    func password(isNew: Bool = false) throws -> Secret {
        if let descriptor = answers.passwordFrom { return try read(descriptor, "a password") }
        guard mayAsk else { throw unanswered("a password", "--password-from FD") }
        while true {
            let password = try typed(isNew ? "New password: " : "Password: ", isSecret: true)
            guard isNew else { return password }
            if try typed("The same again: ", isSecret: true) == password { return password }
            tell("the passwords differ; type both once more")
        }
    }

    /// A method of several, by a numbered list; `before` is the one chosen already.
    func method(of methods: [AuthMethod], before: AuthMethod? = nil) throws -> AuthMethod {
        let isRefused = before == nil && refusal != nil
        if !isRefused, before == nil, let named = answers.secondFactor {
            guard let method = Self.method(named, of: methods) else { throw unknownMethod(named, methods) }
            return method
        }
        if !isRefused, methods.count == 1 { return methods[0] }
        if let before, !mayAsk { return before }
        guard mayAsk, methods.count > 1 else { throw unanswered("one of several methods", "--second-factor METHOD") }
        var text = "A second factor is needed:\n"
        for (index, method) in methods.enumerated() {
            text += "  \(index + 1)  \(method.channelTargetType)  \(method.loginHint ?? "")".printable + "\n"
        }
        StandardError.write(text)
        let usual = before.flatMap { methods.firstIndex(of: $0) } ?? 0
        while true {
            let answer = try line("Number [\(usual + 1)]: ")
            if answer.isEmpty { return methods[usual] }
            if let method = Self.method(answer, of: methods) { return method }
            tell("'\(answer)' is none of them; type a number from 1 to \(methods.count)")
        }
    }

    /// The address or number to register, as a method of the tenant's.
    func contact(for method: AuthMethod, username: String) throws -> String {
        if refusal == nil, let contact = answers.contact { return contact }
        guard mayAsk else { throw unanswered("a contact to register", "--contact ADDRESS") }
        guard method.channelTargetType.isEmailType else {
            return try line("Phone number to register, such as +593987654321: ")
        }
        let contact = try line("E-mail address to register [\(username)]: ")
        return contact.isEmpty ? username : contact
    }

    /// A line that is shown.
    func line(_ question: String) throws -> String { try typed(question).trimmed.reveal() }

    /// By number, id or channel; a channel that several methods have does not select one.
    private static func method(_ name: String, of methods: [AuthMethod]) -> AuthMethod? {
        if let number = Int(name) { return zip(1..., methods).first { $0.0 == number }?.1 }
        if let method = methods.first(where: { $0.id == name }) { return method }
        let alike = Self.methods(by: name, of: methods)
        return alike.count == 1 ? alike[0] : nil
    }

    private static func methods(by channel: String, of methods: [AuthMethod]) -> [AuthMethod] {
        methods.filter { $0.channelTargetType.value.lowercased() == channel.lowercased() }
    }

    private func unknownMethod(_ name: String, _ methods: [AuthMethod]) -> CommandFailure {
        let alike = Self.methods(by: name, of: methods)
        let problem = alike.count > 1 ? "several methods are by \(name)" : "'\(name)' is not one of the methods"
        let ids = (alike.count > 1 ? alike : methods).map(\.id).joined(separator: ", ")
        return CommandFailure(.usage, problem, "give one of \(ids) as --second-factor")
    }
}

extension String {
    /// Whether it can be an e-mail address; the issuer knows more.
    var isAddress: Bool {
        let parts = split(separator: "@", omittingEmptySubsequences: false)
        let isPlain = unicodeScalars.allSatisfy { $0.value > 0x20 && $0.value != 0x7F }
        return isPlain && parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
    }
}

extension Secret {
    /// The same without white space at its ends.
    fileprivate var trimmed: Secret {
        withUnsafeBytes { bytes in
            let isSpace = { (byte: UInt8) in byte == 0x20 || byte &- 0x09 < 5 }
            let start = bytes.firstIndex { !isSpace($0) } ?? bytes.endIndex
            let end = bytes.lastIndex { !isSpace($0) }.map { $0 + 1 } ?? start
            return Secret(copying: UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
        }
    }
}

extension TerminalPrompter {
    /// The values of the attributes that the tenant requires; `given` were given before, `refused` were not taken.
    func attributes(
        _ wanted: [RequiredAttribute],
        given: JSONValue.Object?,
        refused: [String]
    ) throws -> JSONValue.Object {
        var values: [(String, JSONValue)] = []
        for attribute in wanted {
            if let value = given?[attribute.name], !refused.contains(attribute.name) {
                values.append((attribute.name, value))
            } else if let value = try value(of: attribute, isRefused: refused.contains(attribute.name)) {
                values.append((attribute.name, .string(value)))
            }
        }
        return JSONValue.Object(values)
    }

    /// nil: one that may be left out was.
    private func value(of attribute: RequiredAttribute, isRefused: Bool) throws -> String? {
        let format = attribute.format.map { " (\($0))" } ?? ""
        guard mayAsk else {
            guard attribute.required else { return nil }
            if isRefused { throw Self.refused([attribute.name]) }
            throw unanswered(attribute.name + format, "--attribute \(attribute.name)=VALUE")
        }
        while true {
            let value = try line("\(attribute.name)\(format)\(attribute.required ? "" : ", Return for none"): ")
            if value.isEmpty, !attribute.required { return nil }
            if !value.isEmpty, attribute.accepts(value) { return value }
            let advice = attribute.shownPattern.map { "it has to match \($0)" } ?? "give another value"
            tell("'\(value)' is not a valid \(attribute.name); \(value.isEmpty ? "give a value" : advice)")
        }
    }

    /// The tenant does not take the values of some attributes.
    static func refused(_ names: [String]) -> CommandFailure {
        let text = names.joined(separator: ", ")
        return CommandFailure(.failure, "the tenant does not take the value of \(text)", "correct it and start again")
    }
}

extension RequiredAttribute {
    /// A pattern that is longer tells a person nothing.
    private static let longestPattern = 100

    /// The pattern, if it is short enough to be shown.
    var shownPattern: String? { regex.flatMap { $0.utf8.count > Self.longestPattern ? nil : $0 } }

    /// What a value has to look like, for a person; nil: any text.
    var format: String? {
        if regex != nil { return shownPattern.map { Self.words(for: $0) ?? "matching \($0)" } }
        switch type.lowercased() {
        case "integer", "int": return "a whole number"
        case "boolean", "bool": return "true or false"
        default: return nil
        }
    }

    /// A pattern such as `^[A-Z ]{2,60}$` in words; nil for any other.
    private static func words(for regex: String) -> String? {
        guard let match = regex.wholeMatch(of: /\^?\[([^\]\[\\^]+)\](?:\{(\d+)(,?)(\d*)\}|([+*]))\$?/) else {
            return nil
        }
        var rest = match.1[...]
        var members: [String] = []
        while let first = rest.popFirst() {
            if rest.first == "-", rest.count > 1, let last = rest.dropFirst().first {
                members.append("\(first)-\(last)")
                rest = rest.dropFirst(2)
            } else {
                members.append(first == " " ? "space" : String(first))
            }
        }
        return length(match.2, match.3, match.4) + members.joined(separator: ", ")
    }

    private static func length(_ least: Substring?, _ comma: Substring?, _ most: Substring?) -> String {
        guard let least else { return "only " }
        guard comma == "," else { return "\(least) of " }
        return most.map { $0.isEmpty ? "\(least) or more of " : "\(least) to \($0) of " } ?? ""
    }
}
