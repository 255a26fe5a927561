import Foundation
import TestSupport
import Testing

/// The pages `Behaviour.md` list every rule that code, tests and documents name by number, and no other.
struct BehaviourTests {
    private struct File {
        let path: String
        let text: String

        var isPage: Bool { path.hasSuffix("/Behaviour.md") }
    }

    /// Such as C47 or WALKS; the number of digits keeps S256, P256, `s1` and `%C3` apart.
    private static let id = "(?:[CSNEL][0-9]{2}|[DFPR][1-9][0-9]?|WALKS)"
    /// An id, or several of them such as S53 to S59.
    private static let use = "(?<![A-Za-z0-9_%])(\(id))(?: to (\(id)))?(?![A-Za-z0-9_])"
    private static let promise = "\\b[Pp]romises? ([0-9]+)(?: and ([0-9]+))?\\b"
    private static let row = "(?m)^\\| (\(id)|[0-9]+) \\|"
    private static let section = "(?:\\b[Ss]ection |§)[0-9]"
    private static let standard = "RFC [0-9]+|OpenID Connect|Initiating User Registration|NIST SP"
    /// What looks like an id in a text, and is something else.
    private static let exceptions: Set<String> = []

    private let files: [File]

    init() throws {
        let root = Repository.root
        let types: Set = ["swift", "sql", "c", "h", "md", "py"]
        var paths = ["README.md"]
        for folder in ["Sources", "Tests", "Migrations"] {
            let contents = try FileManager.default.subpathsOfDirectory(atPath: root.appending(path: folder).path)
            paths += contents.map { "\(folder)/\($0)" }.filter { types.contains(($0 as NSString).pathExtension) }
        }
        files = try paths.filter { !$0.hasSuffix("/BehaviourTests.swift") }.map {
            File(path: $0, text: try String(contentsOf: root.appending(path: $0), encoding: .utf8))
        }
    }

    @Test func `every id that is used is listed`() throws {
        let (used, known) = (try used(), Self.exceptions.union(try listed()))
        #expect(used.count > 250)
        let unknown = used.filter { !known.contains($0.key) }
        #expect(unknown.map { "\($0.key) in \($0.value)" }.sorted() == [])
    }

    @Test func `every id that is listed is used`() throws {
        let used = try used()
        // A promise is often kept by many tests, none of which names it.
        let rules = try listed().filter { !$0.hasPrefix("Promise") }
        #expect(rules.filter { used[$0] == nil } == [])
    }

    @Test func `no id is listed twice`() throws {
        let rows = try Dictionary(grouping: listed(), by: \.self)
        #expect(rows.filter { $0.value.count > 1 }.keys.sorted() == [])
    }

    @Test func `a section belongs to a standard that is named beside it`() throws {
        let standard = try NSRegularExpression(pattern: Self.standard)
        var unnamed: [String] = []
        for file in files {
            let text = file.text as NSString
            for match in try Self.matches(of: Self.section, in: file.text) {
                let line = text.lineRange(for: match.range)
                let before = NSRange(location: max(0, line.location - 1), length: 0)
                let place = NSUnionRange(text.lineRange(for: before), line)
                guard standard.firstMatch(in: file.text, range: place) == nil else { continue }
                unnamed.append("\(file.path): \(text.substring(with: line))")
            }
        }
        #expect(unnamed == [])
    }

    private func listed() throws -> [String] {
        try files.filter(\.isPage).flatMap { try Self.groups(of: Self.row, in: $0.text) }.flatMap { $0 }
            .map { Int($0) == nil ? $0 : "Promise \($0)" }
    }

    /// Each id and each promise with one of the files that name it.
    private func used() throws -> [String: String] {
        var found: [String: String] = [:]
        for file in files where !file.isPage {
            for ends in try Self.groups(of: Self.use, in: file.text) {
                for id in Self.ids(from: ends[0], to: ends.last ?? ends[0]) { found[id] = file.path }
            }
            for number in try Self.groups(of: Self.promise, in: file.text).flatMap({ $0 }) {
                found["Promise \(number)"] = file.path
            }
        }
        return found
    }

    private static func ids(from first: String, to last: String) -> [String] {
        let (start, end) = (Int(first.dropFirst()) ?? 0, Int(last.dropFirst()) ?? 0)
        guard first.first == last.first, start < end else { return [first, last] }
        return (start...end).map { number in
            let digits = String(number)
            let zeros = String(repeating: "0", count: max(0, first.count - 1 - digits.count))
            return "\(first.prefix(1))\(zeros)\(digits)"
        }
    }

    private static func matches(of pattern: String, in text: String) throws -> [NSTextCheckingResult] {
        let whole = NSRange(location: 0, length: (text as NSString).length)
        return try NSRegularExpression(pattern: pattern).matches(in: text, range: whole)
    }

    /// What the pattern's groups hold, of each match.
    private static func groups(of pattern: String, in text: String) throws -> [[String]] {
        let whole = text as NSString
        return try matches(of: pattern, in: text).map { match in
            (1..<match.numberOfRanges).map(match.range(at:)).filter { $0.location != NSNotFound }.map(whole.substring)
        }
    }
}
