import ArgumentParser
import HTTPTransport
import OAuth
import OpenIDConnect
import Sealing
import SignIn
import TokenManagement
import TokenStorage

/// An error as a person reads it: what happened, and what to do.
package struct CommandFailure: Error {
    let status: ExitStatus
    let message: String
    let hint: String?

    /// The first accounts that fit an ambiguous selector, and how many fit.
    let candidates: [Account]
    let candidateCount: Int

    /// What is known of it besides, for programs.
    var facts = FailureFacts()

    init(
        _ status: ExitStatus,
        _ message: String,
        _ hint: String?,
        candidates: [Account] = [],
        of candidateCount: Int? = nil
    ) {
        self.status = status
        // What an issuer or a file put into it may be of any length.
        var message = message.boundedSentence
        // An issuer's sentence may have one; the line goes on behind it.
        while message.hasSuffix(".") && !message.hasSuffix("..") { message.removeLast() }
        self.message = message
        // A part of a command is another command; the library's advice in it is of bounded length.
        self.hint = hint
        self.candidates = candidates
        self.candidateCount = candidateCount ?? candidates.count
    }

    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as TokenStoreError: self.init(error)
        case let error as AcquisitionError: self.init(error)
        case let error as SignInError: self.init(error)
        case let refusal as any NativeRefusal: self.init(refusal)
        case let error as SealingError: self.init(TokenStoreError.key(error))
        case let error as any CodedError: self.init(.failure, error)
        default: self.init(.failure, String(describing: error), nil)
        }
    }

    /// An error of the library, with its remedy as a command.
    init(_ status: ExitStatus, _ error: any CodedError) {
        self.init(status, error.problem, error.remedy?.hint)
    }

    private init(_ error: TokenStoreError) {
        // Why tokens were not stored says how a program is to take it.
        switch error.cause ?? error.code {
        case .ambiguousAccount: self.init(ambiguous: error.accounts, of: error.accountCount)
        case .busy: self.init(.storeBusy, error)
        case .damaged: self.init(.storeDamaged, error)
        case .key: self.init(.keyUnavailable, error)
        case .newerStore, .moved: self.init(.newerStore, error)
        case .unreachable: self.init(.network, error)
        case .userFlowMismatch: self.init(.interactionRequired, error)
        default: self.init(.failure, error)
        }
    }

    /// The failure with another hint.
    func hinting(_ hint: String) -> CommandFailure {
        var failure = CommandFailure(status, message, hint, candidates: candidates, of: candidateCount)
        failure.facts = facts
        return failure
    }

    /// The failure, which says that the change may be made where only the report of it could not be written.
    func tellingOfChange(by arguments: ArraySlice<String>) -> CommandFailure {
        // A call for help parses as no command, and changes nothing.
        guard facts.isOfOutput, let hint, !arguments.contains("--dry-run"),
            let command = try? TokenStoreCommand.command(arguments), Self.isChange(command)
        else { return self }
        return hinting(hint + "; what was to be changed may be changed already")
    }

    /// Whether a command may change something, and says so once it is done.
    private static func isChange(_ command: any ParsableCommand) -> Bool {
        switch command {
        case let check as CheckCommand: check.repair
        case let use as UseCommand: use.isChange
        case let tag as TagCommand: tag.isChange
        case is LogoutCommand, is PurgeCommand, is ImportCommand, is RestoreCommand, is RekeyCommand, is InitCommand,
            is MigrateCommand, is CopyCommand, is LoginCommand, is SignUpCommand, is ResetPasswordCommand:
            true
        default: false
        }
    }

    /// The failure whose advice says which store is meant, where the arguments said so.
    func naming(_ given: GivenStore) -> CommandFailure { hint.map { hinting($0.naming(given)) } ?? self }

    /// The whole line.
    var sentence: String { hint.map { "\(message); \($0)" } ?? message }
}

extension CommandFailure {
    /// The failure of a token request.
    init(_ error: AcquisitionError) {
        let status: ExitStatus =
            if error.interaction == .noAccount {
                .noMatch
            } else if error.needsInteraction || error.code == .tooShort {
                // A new session may get a longer token, where the issuer ends the token with the session.
                .interactionRequired
            } else if error.isOutage {
                .network
            } else {
                .failure
            }
        self.init(status, error)
        facts.take(error.refusal, error.retryAfter)
    }
}

extension CommandFailure {
    /// The failure of a sign-in.
    init(_ error: SignInError) {
        let status: ExitStatus =
            switch error.code {
            case .cancelled, .timedOut: .cancelled
            case .forgotPassword: .interactionRequired
            default: error.isOutage ? .network : .failure
            }
        self.init(status, error)
        facts.take(error.refusal, error.retryAfter)
    }
}

extension CommandFailure {
    /// What the argument parser says, as one line without a capital or a full stop.
    init(usage message: String, of arguments: ArraySlice<String>) {
        var sentence = message.split(whereSeparator: \.isWhitespace).joined(separator: " ")
        while sentence.hasSuffix(".") { sentence.removeLast() }
        // Not of an abbreviation.
        if sentence.dropFirst().first?.isUppercase != true {
            sentence = sentence.prefix(1).lowercased() + sentence.dropFirst()
        }
        let parts = sentence.split(separator: ValidationError.separator, maxSplits: 1).map(String.init)
        let names = TokenStoreCommand.commands(named: arguments).compactMap { $0.configuration.commandName }
        let help = "see '\((["tokenstore"] + names).joined(separator: " ")) --help'"
        guard let option = sentence.droppingPrefix("unknown option '")?.prefix(while: { $0 != "'" }) else {
            self.init(.usage, parts.first ?? sentence, parts.count > 1 ? parts[1] : help)
            return
        }
        // The parser's own guess may be far from what was typed, and the option that of another program.
        let guess = TokenStoreCommand.option(meantBy: String(option), arguments).map { "did you mean '\($0)'?" }
        let isOfCommand = names.first == ExecCommand.configuration.commandName && !arguments.contains("--")
        let command = "write the command behind --, as in 'tokenstore exec -- env'"
        let name = "if it is no option, write -- before it, behind the options"
        let mayBeName = !option.hasPrefix("--") && option.count > 2 && TokenStoreCommand.takesWords(arguments)
        self.init(.usage, "unknown option '\(option)'", guess ?? (isOfCommand ? command : mayBeName ? name : help))
    }
}

extension ValidationError {
    /// The parser hands on nothing but the text of our own validation; what stands here keeps the hint apart.
    fileprivate static let separator: Character = "\u{1F}"

    init(_ problem: String, hint: String) { self.init("\(problem)\(Self.separator)\(hint)") }

    /// What the library says of a value that it cannot use.
    init(_ error: any Error) {
        let coded = error as? any CodedErrorFacts
        if let coded, let remedy = coded.remedy {
            self.init(coded.problem, hint: remedy.advice)
        } else {
            self.init(coded?.problem ?? "\(error)")
        }
    }
}

/// Why a command ended without having done its work; the raw value is the error code that scripts see.
enum ExitStatus: String {
    case failure
    case noMatch = "no_match"
    case ambiguous
    case interactionRequired = "interaction_required"
    case storeBusy = "store_busy"
    case storeDamaged = "store_damaged"
    case keyUnavailable = "key_unavailable"
    case network
    case cancelled
    case newerStore = "newer_store"
    case usage
    case interrupted

    /// The exit status of the process.
    var code: Int32 {
        switch self {
        case .failure: 1
        case .noMatch, .ambiguous: 3
        case .interactionRequired: 4
        case .storeBusy: 5
        case .storeDamaged: 6
        case .keyUnavailable: 7
        case .network: 8
        case .cancelled: 9
        case .newerStore: 10
        case .usage: 64
        case .interrupted: 130
        }
    }
}
