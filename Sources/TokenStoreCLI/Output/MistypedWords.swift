import ArgumentParser

extension TokenStoreCommand {
    /// The commands that the first words name, each below the one before, such as `credential` and `aws`.
    static func commands(named words: ArraySlice<String>) -> [any ParsableCommand.Type] {
        var found: [any ParsableCommand.Type] = []
        for word in words {
            let below = (found.last?.configuration ?? configuration).subcommands
            guard let command = below.first(where: { $0.configuration.commandName == word }) else { break }
            found.append(command)
        }
        return found
    }

    /// Requires that the words name a command, and one below it where it has some.
    static func requireCommand(_ words: ArraySlice<String>) throws {
        let found = commands(named: words)
        let below = (found.last?.configuration ?? configuration).subcommands
        guard !below.isEmpty, let word = words.dropFirst(found.count).first, !word.hasPrefix("-"), word != "help"
        else { return }
        let path = found.compactMap { $0.configuration.commandName }.map { $0 + " " }.joined()
        let guess = word.nearest(in: below.compactMap { $0.configuration.commandName })
        throw ValidationError(
            "there is no command '\(path)\(word)'",
            hint: guess.map { "did you mean '\($0)'?" } ?? "see 'tokenstore \(path)--help'"
        )
    }

    /// The option of the command in `arguments` that was meant by one that it does not have: the only one that begins
    /// so, or else one that is close.
    static func option(meantBy typed: String, _ arguments: ArraySlice<String>) -> String? {
        guard typed.hasPrefix("--") else { return nil }
        // Before a command stand the options of every one.
        let options =
            commands(named: arguments).last.map { Self.options(of: $0) }
            ?? Self.options(of: TokenStoreCommand.self) + Self.options(of: StatusCommand.self)
        let longer = options.filter { $0.hasPrefix(typed) }
        guard longer.isEmpty else { return longer.count == 1 ? longer[0] : nil }
        return String(typed.dropFirst(2)).nearest(in: options.map { String($0.dropFirst(2)) }).map { "--\($0)" }
    }

    /// A word with a hyphen, such as a name, that shows the help for an `h` in it; nil where the help was asked for.
    static func wordTakenForHelp(_ arguments: ArraySlice<String>) -> String? {
        let words = arguments.prefix { $0 != "--" }
        let isAsked = words.contains { ["-h", "-help", "--help", "help"].contains($0) || $0.hasPrefix("---") }
        guard !isAsked else { return nil }
        return words.first { word in
            word.hasPrefix("-") && !word.hasPrefix("--") && word.contains("h") && !isBundle(word, of: "hjqaos")
        }
    }

    /// Whether the command that is named takes words without an option before them, such as an account.
    static func takesWords(_ arguments: ArraySlice<String>) -> Bool {
        guard let command = commands(named: arguments).last else { return false }
        return helpMessage(for: command, includeHidden: false, columns: 80).contains("\nARGUMENTS:")
    }

    /// The options of a command with two hyphens, as its help has them: the parser hands them out in no other way.
    private static func options(of command: any ParsableCommand.Type) -> [String] {
        let help = helpMessage(for: command, includeHidden: false, columns: 80)
        return help.split(separator: "\n").filter { $0.hasPrefix("  -") }.flatMap { line in
            line.split(separator: " ").prefix { $0.hasPrefix("-") }.filter { $0.hasPrefix("--") }.map(String.init)
        }
    }
}

extension String {
    /// Of `words` the one that was most likely meant; nil where none is close.
    func nearest(in words: [String]) -> String? {
        let limit = count < 4 ? 1 : 2
        let distances = words.map { (word: $0, distance: distance(to: $0)) }
        return distances.filter { $0.distance <= limit }.min { $0.distance < $1.distance }?.word
    }

    /// How many letters have to be added, removed, changed or swapped with the next to make the other text.
    private func distance(to other: String) -> Int {
        let (left, right) = (Array(lowercased()), Array(other))
        // For the letters before the last, and for all so far, the distances to each beginning of the other text.
        var (before, last) = ([Int](), Array(0...right.count))
        for (i, letter) in left.enumerated() {
            var row = [i + 1]
            for (j, wanted) in right.enumerated() {
                var least = Swift.min(last[j] + (letter == wanted ? 0 : 1), last[j + 1] + 1, row[j] + 1)
                if i > 0, j > 0, letter == right[j - 1], wanted == left[i - 1] {
                    least = Swift.min(least, before[j - 1] + 1)
                }
                row.append(least)
            }
            (before, last) = (last, row)
        }
        return last[right.count]
    }
}
