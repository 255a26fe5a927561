import OAuth

/// Asks for a passphrase on the terminal, which does not show it.
struct PassphrasePrompt {
    private let terminal: PersonalTerminal

    /// Asks once, or twice for a new passphrase, because a slip of the finger would lock the store.
    static func ask(isNew: Bool) throws -> Secret {
        let prompt = try PassphrasePrompt()
        let passphrase = try prompt.read(isNew ? "New passphrase for the store: " : "Passphrase for the store: ")
        guard isNew else { return passphrase }
        guard try prompt.read("The same again: ") == passphrase else {
            throw CommandFailure(.failure, "the passphrases differ, and nothing was changed", "try again")
        }
        return passphrase
    }

    private init() throws {
        guard let terminal = PersonalTerminal() else {
            throw CommandFailure(
                .keyUnavailable,
                "there is no terminal to ask for the passphrase",
                "set TOKENSTORE_PASSPHRASE, or use --key passphrase:fd=N"
            )
        }
        self.terminal = terminal
    }

    private func read(_ question: String) throws -> Secret {
        guard let passphrase = try terminal.answer(to: question, isSecret: true), passphrase.count > 0 else {
            throw CommandFailure(.cancelled, "no passphrase was given, and nothing was changed", "type one and Return")
        }
        return passphrase
    }
}
