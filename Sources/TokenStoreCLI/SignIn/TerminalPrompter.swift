import HTTPTransport
import OAuth
import Sealing
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What a person is asked for without a browser.
enum NativeDeed: String {
    case signIn = "sign-in"
    case signUp = "sign-up"
    case passwordReset = "password reset"

    /// The options by which a script gives the answers.
    fileprivate var options: String {
        // A reset takes a code, and then the new password.
        "--code-from FD \(self == .passwordReset ? "and" : "or") --password-from FD"
    }
}

/// Asks the person at the terminal, or reads a script's answers from file descriptors.
///
/// While it exists, Ctrl-C cancels the sign-in instead of ending the program.
final class TerminalPrompter {
    /// What an answer leads to.
    enum Step<State, Result> {
        /// Another answer is needed.
        case again(State)
        case done(Result)
    }

    static let tries = 5

    let answers: NativeArguments
    let mayAsk: Bool
    private let isQuiet: Bool
    private let signalMask = SignalMask()
    private var terminal: ControllingTerminal?

    /// The store that the answers of the issuer go to.
    var store: TokenStore?

    /// Why the answer before was not taken.
    private(set) var refusal: (any NativeRefusal)?

    let deed: NativeDeed

    /// The operation, such as `sign-in`.
    var subject: String

    /// What to do after Ctrl-C.
    var cancellationAdvice = "nothing was stored, try again"

    /// How many other codes a script has asked for at this step.
    var newCodes = 0

    /// Throws unless there is a terminal to ask on, or a descriptor to read answers from.
    init(_ deed: NativeDeed, _ answers: NativeArguments, _ arguments: StoreArguments) throws {
        (self.deed, subject) = (deed, deed.rawValue)
        self.answers = answers
        mayAsk = arguments.mayAsk
        isQuiet = arguments.quiet || arguments.json
        let inputs = [("--code-from", answers.codeFrom), ("--password-from", answers.passwordFrom)]
        for (option, descriptor) in inputs {
            if let descriptor { try AnswerInput(descriptor: descriptor).check(option) }
        }
        guard mayAsk || answers.codeFrom != nil || answers.passwordFrom != nil else {
            throw noTerminal(deed.options)
        }
    }

    /// Says something that does not depend on an answer.
    func note(_ text: String) {
        if !isQuiet { StandardError.write("tokenstore: \(text.boundedSentence.printable)\n") }
    }

    /// Says what the next question depends on.
    func tell(_ text: String) {
        if mayAsk { StandardError.write("tokenstore: \(text.boundedSentence.printable)\n") }
    }

    /// Does a step at the issuer; `advice` is for Ctrl-C once it may have had its effect.
    func perform<Result: Sendable>(
        ifCancelled advice: String? = nil,
        _ step: @escaping @Sendable () async throws -> Result
    ) throws -> Result {
        try checkCancellation()
        var isCancelled = false
        do {
            return try AsynchronousWork.run(step) {
                // What the issuer has given is stored first.
                if store?.isExpectingAnswer != true { signalMask.letThrough() }
                isCancelled = signalMask.takeInterrupt()
                return isCancelled
            }
        } catch {
            throw isCancelled ? cancelled(advice) : error
        }
    }

    /// Takes `step` until it is done, and again after a refusal that another answer may put right.
    ///
    /// A person goes on as long as the issuer lets them where another code can be had; a script has its tries.
    func settle<State, Result>(
        _ first: State,
        canResend: Bool = false,
        _ step: (State) throws -> Step<State, Result>
    ) throws -> Result {
        var state = first
        var triesLeft = canResend && mayAsk && answers.codeFrom == nil ? Int.max : Self.tries
        defer { (refusal, newCodes) = (nil, 0) }
        while true {
            do {
                switch try step(state) {
                case .again(let next): state = next
                case .done(let result): return result
                }
            } catch let error as any NativeRefusal {
                triesLeft -= 1
                guard triesLeft > 0, let next = error.nextState as? State else { throw error }
                guard error.isAboutAnswer || mayAsk && error.isOutage else { throw error }
                refusal = error
                state = next
                tell(error.description)
            }
        }
    }

    /// The line that is typed, without echo if it is secret.
    func typed(_ question: String, isSecret: Bool = false) throws -> Secret {
        try checkCancellation()
        terminal = terminal ?? ControllingTerminal()
        guard let terminal else { throw refusal ?? noTerminal(deed.options) }
        let shown = question.boundedSentence.printable
        let answer = try interruptible { try terminal.answer(to: shown, isSecret: isSecret) }
        guard let answer else { throw cancelled() }
        return answer
    }

    /// The next line of a descriptor; what was refused before it is the error if there is none.
    func read(_ descriptor: Int32, _ what: String) throws -> Secret {
        let input = AnswerInput(descriptor: descriptor)
        if let line = try interruptible({ try input.next(signalMask) }) { return line }
        if let refusal { throw refusal }
        throw CommandFailure(
            .failure,
            "the issuer asks for \(what), and the file descriptor \(descriptor) has no more lines",
            "write one line for each answer"
        )
    }

    /// The error if no answer can be asked for; an earlier refusal is the better reason.
    func unanswered(_ what: String, _ option: String) -> any Error {
        refusal ?? CommandFailure(.usage, "the issuer asks for \(what), and there is no terminal", "give \(option)")
    }

    /// The error where nobody can be asked, before the issuer has asked for anything.
    func noTerminal(_ option: String) -> CommandFailure {
        CommandFailure(.usage, "there is no terminal to ask on", "give \(option)")
    }

    private func interruptible<Result>(_ body: () throws -> Result) throws -> Result {
        do {
            return try body()
        } catch {
            try checkCancellation()
            throw error
        }
    }

    private func checkCancellation() throws {
        if signalMask.takeInterrupt() { throw cancelled() }
    }

    private func cancelled(_ advice: String? = nil) -> CommandFailure {
        CommandFailure(.cancelled, "the \(subject) was cancelled", advice ?? cancellationAdvice)
    }
}

/// A descriptor that a script gives its answers by, one a line.
private struct AnswerInput {
    let descriptor: Int32

    /// Throws unless the descriptor is open for reading.
    func check(_ option: String) throws {
        guard isOpenForReading(descriptor) else {
            throw CommandFailure(
                .usage,
                "\(option) names the file descriptor \(descriptor), which is not open for reading",
                "open it, as in \(option) 3 3<FILE"
            )
        }
    }

    /// The next line, nil at the end of the input.
    func next(_ signalMask: SignalMask) throws -> Secret? {
        let line = try LineReader(descriptor: descriptor).line {
            if signalMask.isInterrupted { throw CommandFailure(.cancelled, "interrupted", "try again") }
            signalMask.letThrough()
        }
        return line?.withoutCarriageReturn
    }
}

extension Secret {
    /// The same without the carriage return at its end, which is a part of the line's end where Windows wrote it.
    fileprivate var withoutCarriageReturn: Secret {
        withUnsafeBytes { bytes in
            guard bytes.last == UInt8(ascii: "\r") else { return self }
            return Secret(copying: UnsafeRawBufferPointer(rebasing: bytes.dropLast()))
        }
    }
}
