import OAuth

/// What was typed at the prompt, so that a person is asked once however often a command opens the store.
final class PassphraseMemory: Sendable {
    static let shared = PassphraseMemory()

    private let answer = Guarded<Secret?>(nil)
    private let refusal = Guarded<CommandFailure?>(nil)

    /// Why the person was asked in vain; the layers between know only that there is no key.
    var failure: CommandFailure? { refusal.withLock { $0 } }

    /// The passphrase, asked for unless it is known; a new one is always asked for.
    func passphrase(isNew: Bool) throws -> Secret {
        if !isNew, let known = answer.withLock({ $0 }) { return known }
        do {
            let secret = try PassphrasePrompt.ask(isNew: isNew)
            answer.withLock { $0 = secret }
            return secret
        } catch let failure as CommandFailure {
            refusal.withLock { $0 = failure }
            throw failure
        }
    }
}
