import Foundation

extension Command {
    /// Runs it on a new terminal; standard output and error are one stream, as a person sees them.
    ///
    /// Each answer is typed when its question has appeared.
    func runOnTerminal(
        in directory: ScratchDirectory,
        columns: UInt16 = 120,
        answers: [(question: String, answer: String)] = []
    ) throws -> Outcome {
        let answers = answers.map { answer in TypedAnswer(answer.question, answer.answer) }
        return try runOnTerminal(in: directory, columns: columns, typing: answers)
    }

    /// The same with answers that are not known yet, of this program or another.
    func runOnTerminal(
        in directory: ScratchDirectory,
        columns: UInt16 = 120,
        program: String = Self.binary,
        typing answers: [TypedAnswer]
    ) throws -> Outcome {
        let terminal = try PseudoTerminal(columns: columns)
        defer { close(terminal.descriptor) }
        var actions = SpawnActions()
        actions.startSession()
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            actions.open(terminal.path, O_RDWR, as: descriptor)
        }
        let variables = ["TERM": "xterm"].merging(environment) { $1 }
        let process = try actions.spawn(program, arguments, environment: variables, home: directory)
        let shown = try Self.converse(terminal.descriptor, answers) { kill(process, SIGKILL) }
        return Outcome(status: SpawnActions.wait(for: process), output: shown, error: "")
    }

    /// Reads until the process has closed its side; the terminal's line ends are taken back.
    ///
    /// A question that does not come within minutes, of which a busy machine takes some, does not come; then the end of
    /// the session's leader ends it all.
    private static func converse(_ terminal: Int32, _ answers: [TypedAnswer], giveUp: () -> Void) throws -> String {
        var shown: [UInt8] = []
        var rest = answers[...]
        var seen = 0
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            var source = pollfd(fd: terminal, events: Int16(POLLIN), revents: 0)
            if poll(&source, 1, 240_000) == 0 { giveUp() }
            let count = read(terminal, &buffer, buffer.count)
            guard count > 0 else { break }
            shown += buffer[..<count]
            let unseen = String(decoding: shown[seen...], as: UTF8.self)
            if let next = rest.first, unseen.contains(next.question) {
                rest.removeFirst()
                seen = shown.count
                type(try next.text(), terminal)
            }
        }
        return String(decoding: shown, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
    }

    private static func type(_ text: String, _ terminal: Int32) {
        _ = text.withCString { write(terminal, $0, strlen($0)) }
    }
}
