import OAuth
import Synchronization

/// Asks for a passphrase on the terminal, which does not show it.
private struct PassphrasePrompt {
    private let terminal: ControllingTerminal

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
        guard let terminal = ControllingTerminal() else {
            throw CommandFailure(
                .keyUnavailable,
                "the passphrase cannot be asked for without a terminal",
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

/// What was typed at the prompt, so that a person is asked once however often a command opens the store.
final class PassphraseMemory: Sendable {
    static let shared = PassphraseMemory()

    private let answer = LockedValue<Secret?>(nil)
    private let refusal = LockedValue<CommandFailure?>(nil)

    /// Why the prompt failed; the layers between know only that the key is missing.
    var failure: CommandFailure? { refusal.withLock { $0 } }

    /// Forgets what was typed for a store that is there; false if nothing was.
    func forget() -> Bool {
        answer.withLock { answer in
            defer { answer = nil }
            return answer != nil
        }
    }

    /// The passphrase, asked for unless it is known; a new one is always asked for.
    func passphrase(isNew: Bool) throws -> Secret {
        if !isNew, let known = answer.withLock({ $0 }) { return known }
        do {
            let secret = try ProgressLine.makingWay { try PassphrasePrompt.ask(isNew: isNew) }
            answer.withLock { $0 = secret }
            return secret
        } catch let failure as CommandFailure {
            refusal.withLock { $0 = failure }
            throw failure
        }
    }
}
