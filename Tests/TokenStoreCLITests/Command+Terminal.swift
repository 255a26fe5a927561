import Foundation

extension Command {
    /// Runs it on a terminal of its own; standard output and error come back as the one stream a person sees.
    ///
    /// Each answer is typed when its question has appeared.
    func runOnTerminal(
        in directory: ScratchDirectory,
        columns: UInt16 = 120,
        answers: [(question: String, answer: String)] = []
    ) throws -> Outcome {
        let terminal = try PseudoTerminal(columns: columns)
        defer { close(terminal.descriptor) }
        var actions = SpawnActions()
        actions.startSession()
        for descriptor in [STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO] {
            actions.open(terminal.path, O_RDWR, as: descriptor)
        }
        let variables = ["TERM": "xterm"].merging(environment) { $1 }
        let process = try actions.spawn(Self.binary, arguments, environment: variables, home: directory)
        let shown = Self.converse(terminal.descriptor, answers)
        return Outcome(status: SpawnActions.wait(for: process), output: shown, error: "")
    }

    /// Reads until the process has closed its side; the terminal's line ends are taken back.
    private static func converse(_ terminal: Int32, _ answers: [(question: String, answer: String)]) -> String {
        var shown: [UInt8] = []
        var rest = answers[...]
        var seen = 0
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(terminal, &buffer, buffer.count)
            guard count > 0 else { break }
            shown += buffer[..<count]
            let unseen = String(decoding: shown[seen...], as: UTF8.self)
            if let next = rest.first, unseen.contains(next.question) {
                rest.removeFirst()
                seen = shown.count
                _ = next.answer.withCString { write(terminal, $0, strlen($0)) }
            }
        }
        return String(decoding: shown, as: UTF8.self).replacingOccurrences(of: "\r\n", with: "\n")
    }
}
