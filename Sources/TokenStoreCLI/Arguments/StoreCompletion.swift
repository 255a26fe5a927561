import ArgumentParser
import Sealing
import TokenStorage

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a shell completes the value of an option to: what the store at hand knows, and nothing where it cannot be read.
enum StoreCompletion {
    /// The completion of a word that names a `kind` of thing.
    static func of(_ kind: Suggestion) -> CompletionKind {
        .custom { words, index, prefix in values(kind, words, index, prefix) }
    }

    /// The words of `claims`: the account, then names of claims.
    static let claims = CompletionKind.custom { words, index, prefix in
        let typed = words[..<max(0, min(index, words.count))]
        let isNamed = typed.contains("--account") || typed.contains { $0.contains("@") }
        return values(isNamed ? .claim : .account, words, index, prefix)
    }

    /// What `--key` takes, as far as it is known without a file or a name.
    static let keySources = CompletionKind.custom { words, index, prefix in
        let word = CompletedWord(words, index, prefix)
        let sources = ["file", "passphrase", "secret-service", "keychain", "credential:", "environment", "command:"]
        return word.shown(sources.filter { $0.hasPrefix(word.typed) })
    }

    private static func values(_ kind: Suggestion, _ words: [String], _ index: Int, _ prefix: String) -> [String] {
        let word = CompletedWord(words, index, prefix)
        do {
            let key = try word.value(of: "--key").map { try KeySource(parsing: $0) }
            var options = StoreOptions(keySource: key)
            options.program = "tokenstore"
            options.busyTimeout = .milliseconds(200)
            options.unlocks = kind == .claim
            options.keepsInspectionOpen = true
            let environment = StoreArguments.environment
            let location =
                try word.value(of: "--store").map { try StoreLocation($0) } ?? .standard(environment: environment)
            let store = try TokenStore.inspect(at: location, options: options)
            return word.shown(try store?.suggestions(kind, prefix: word.typed) ?? [])
        } catch {
            // A person who presses Tab is told nothing: the command will say what is wrong.
            return []
        }
    }
}

/// The root command as a shell completes it: options of every command may stand before the command, which the real one
/// leaves to ``TokenStoreCommand/commandFirst(_:)``.
struct CompletionRoot: ParsableCommand {
    static let configuration = TokenStoreCommand.configuration

    @OptionGroup var arguments: StoreArguments

    /// The parser's script for a shell, made to know a value behind an equals sign.
    static func adapted(_ script: String) -> String {
        if script.hasPrefix("#!/bin/bash") {
            let value = "        if \"${is_parsing_option_value}\"; then\n"
            let script = script.replacing(value, with: bashEqualsSign + value)
                .replacing("    local -r prev=\"${3}\"\n", with: bashOption)
            // Bash would take an address for several words.
            return script + "\nCOMP_WORDBREAKS=${COMP_WORDBREAKS//:}"
        }
        guard script.hasPrefix("#compdef") else { return script }
        let command = "        '(-): :->command'\n"
        return script.replacing(command, with: zshJoinedValues + command, maxReplacements: 1)
    }

    private static let bashEqualsSign = """
                # Bash makes words of an equals sign and what stands before and behind it
                if [[ "${unparsed_words[${word_index}]}" = '=' &&
                    "${word_index}" -ne "${unparsed_word_indices[${#unparsed_word_indices[@]} - 1]}" ]]; then
                    unset "unparsed_words[${word_index}]"
                    is_parsing_option_value=true
                    continue
                fi

        """

    /// Whose value is completed, which may stand before an equals sign.
    private static let bashOption = """
            local prev="${3}"
            [[ "${prev}" = '=' && "${COMP_CWORD}" -gt 2 ]] && prev="${COMP_WORDS[COMP_CWORD - 2]}"
            local -r prev

        """

    /// Options that zsh takes and does not offer: those that it does have their values in the next word.
    private static let zshJoinedValues = ["--store=-:path:_files", "--key", "--color", "--timeout", "--log-level"]
        .map { "        '!\($0.contains("=") ? $0 : $0 + "=-:value:")'\n" }.joined()
}

/// The word that a person completes, and the words before it.
private struct CompletedWord {
    private let words: [String]

    /// What is typed of it.
    let typed: String

    init(_ words: [String], _ index: Int, _ prefix: String) {
        self.words = Array(words.prefix(max(0, index)))
        typed = prefix
    }

    /// The value that an option has before the word.
    func value(of option: String) -> String? {
        if let joined = words.last(where: { $0.hasPrefix(option + "=") }) {
            return Self.unquoted(String(joined.dropFirst(option.count + 1)))
        }
        guard let index = words.lastIndex(of: option) else { return nil }
        // Bash makes words of an equals sign and what stands before and behind it.
        var rest = words[(index + 1)...].drop { $0 == "=" }
        // A shell expands no tilde behind one.
        let isExpanded = rest.startIndex == index + 1 && rest.first?.hasPrefix("~/") == true
        guard var value = rest.popFirst() else { return nil }
        while rest.first == "=" { value += rest.removeFirst() + (rest.popFirst() ?? "") }
        let home = isExpanded ? StoreArguments.environment["HOME"] : nil
        return home.map { $0 + Self.unquoted(String(value.dropFirst())) } ?? Self.unquoted(value)
    }

    /// A word without its quotes, which shells hand on as it is typed, but for fish before its version 4.
    private static func unquoted(_ word: String) -> String {
        let isUnquoted =
            CompletionShell.requesting == .fish && CompletionShell.requestingVersion?.hasPrefix("3.") == true
        guard !isUnquoted else { return word }
        var (text, quote, isEscaped) = ("", Character?.none, false)
        for character in word {
            if isEscaped {
                text.append(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if character == quote {
                quote = nil
            } else if quote == nil, character == "'" || character == "\"" {
                quote = character
            } else {
                text.append(character)
            }
        }
        return text
    }

    /// The values as the shell takes them.
    ///
    /// Bash expands the words of a list, so that a name could be a command: one with a character of the shell's own is
    /// left out.
    func shown(_ values: [String]) -> [String] {
        let plain = values.filter { $0 == $0.printable && $0.unicodeScalars.allSatisfy(Self.isPlain) }
        // Zsh takes what stands behind a colon for an explanation.
        return CompletionShell.requesting == .zsh ? plain.map { $0.replacing(":", with: "\\:") } : plain
    }

    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", ".", "_", "@", ":", "/", "+", "-", ",", "=", "%": true
        default: scalar.properties.isAlphabetic && !scalar.isASCII
        }
    }
}
