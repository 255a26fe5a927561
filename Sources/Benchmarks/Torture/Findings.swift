#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What children that try many things report, a line each: `case NUMBER`, or the name of a problem and a text.
struct Findings {
    enum Problem: String, CaseIterable {
        case crash
        case hang
        case untyped = "an error of no type of ours"
        case silence = "no accounts, as if all were well"
        case touched = "a file changed by looking at it"
        case broken = "a store that is not sound afterwards"
    }

    private(set) var counts: [Problem: Int] = [:]
    private(set) var cases = 0
    private var examples: [String] = []
    private var latest = ""

    /// Reports to the parent.
    static func say(_ line: String) {
        let line = line.split(separator: "\n").joined(separator: " ") + "\n"
        _ = line.withCString { write(1, $0, strlen($0)) }
    }

    static func say(_ problem: Problem, _ text: String) { say("\(problem) \(text)") }

    static func explain(_ text: String) {
        let line = text + "\n"
        _ = line.withCString { write(2, $0, strlen($0)) }
    }

    mutating func take(_ lines: String) {
        for line in lines.split(separator: "\n") {
            let name = line.prefix { $0 != " " }
            let problem = Problem.allCases.first { "\($0)" == name }
            if let problem {
                add(problem, latest + ": " + line)
            } else {
                latest = String(line)
                cases += 1
            }
        }
    }

    mutating func take(_ end: ChildProcess.Ended) {
        if end.isSuccess { return }
        if end.signal == SIGALRM {
            add(.hang, latest)
        } else {
            add(.crash, "\(latest), \(end.signal.map { "signal \($0)" } ?? "exit \(end.code ?? 0)")")
        }
    }

    /// Prints the first few problems to standard error.
    func explain() {
        for example in examples { Self.explain(example) }
    }

    private mutating func add(_ problem: Problem, _ text: String) {
        counts[problem, default: 0] += 1
        if examples.count < 20 { examples.append(text) }
    }
}
