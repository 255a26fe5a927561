import Foundation
import OAuth
import TestSupport
import Testing

/// A JSON Schema of the repository, with as much of draft 2020-12 as the schemas use.
///
/// Stricter than the standard: a member that the schema does not name is a problem, so that none is forgotten there.
struct JSONSchema {
    let name: String
    let root: JSONValue.Object

    static let directory = Repository.root.appending(path: "Sources/TokenStoreCLI/Schemas")

    static let all: [String: JSONSchema] = {
        let files = FileManager.default.enumerator(at: directory, includingPropertiesForKeys: nil)?.allObjects ?? []
        let schemas = files.compactMap { ($0 as? URL).flatMap(JSONSchema.init) }
        return Dictionary(schemas.map { ($0.name, $0) }) { first, _ in first }
    }()

    private static let ending = ".schema.json"

    private init?(_ file: URL) {
        guard file.lastPathComponent.hasSuffix(Self.ending), let text = try? String(contentsOf: file, encoding: .utf8),
            let object = try? JSONValue(parsing: text).object
        else { return nil }
        name = String(file.lastPathComponent.dropLast(Self.ending.count))
        root = object
    }

    /// What a document has that the schema does not allow, and what it lacks.
    func problems(of text: String) throws -> [String] { problems(of: try JSONValue(parsing: text), as: root, at: "") }

    private func problems(of value: JSONValue, as schema: JSONValue.Object, at place: String) -> [String] {
        if let name = schema["$ref"]?.text {
            guard let other = Self.all[String(name.dropLast(Self.ending.count))] else { return ["no schema \(name)"] }
            return other.problems(of: value, as: other.root, at: place)
        }
        if let choices = schema["anyOf"]?.array {
            let found = choices.compactMap(\.object).map { problems(of: value, as: $0, at: place) }
            return found.contains { $0.isEmpty } ? [] : found.first ?? []
        }
        return typeProblems(of: value, as: schema, at: place) + memberProblems(of: value, as: schema, at: place)
            + (value.array ?? []).enumerated().flatMap { index, element in
                schema["items"]?.object.map { problems(of: element, as: $0, at: "\(place)[\(index)]") } ?? []
            }
    }

    private func typeProblems(of value: JSONValue, as schema: JSONValue.Object, at place: String) -> [String] {
        var problems: [String] = []
        let types = schema["type"]?.array?.compactMap(\.text) ?? schema["type"]?.text.map { [$0] }
        if let types, !types.contains(value.typeName) { problems.append("\(place) is \(value.typeName)") }
        let choices = schema["enum"]?.array ?? schema["const"].map { [$0] }
        if let choices, !choices.map(\.serialized).contains(value.serialized) {
            problems.append("\(place) is \(value.serialized)")
        }
        if let pattern = schema["pattern"]?.text, let text = value.text {
            let isMatch = text.range(of: pattern, options: .regularExpression) != nil
            if !isMatch { problems.append("\(place) is \(text)") }
        }
        return problems
    }

    private func memberProblems(of value: JSONValue, as schema: JSONValue.Object, at place: String) -> [String] {
        guard let object = value.object else { return [] }
        let properties = schema["properties"]?.object
        let missing = (schema["required"]?.array ?? []).compactMap(\.text).filter { object[$0] == nil }
        var problems = missing.map { "\(place) lacks \($0)" }
        if Set(object.members.map(\.name)).count < object.members.count { problems.append("\(place) has a name twice") }
        for (name, value) in object.members {
            if let schema = properties?[name]?.object ?? schema["additionalProperties"]?.object {
                problems += self.problems(of: value, as: schema, at: "\(place).\(name)")
            } else if schema["additionalProperties"] == nil {
                problems.append("\(place) has \(name), which the schema does not name")
            }
        }
        return problems
    }
}

extension JSONValue {
    /// What JSON Schema calls the kind of value.
    fileprivate var typeName: String {
        switch self {
        case .null: "null"
        case .bool: "boolean"
        case .number(let text): text.contains { ".eE".contains($0) } ? "number" : "integer"
        case .string: "string"
        case .array: "array"
        case .object: "object"
        }
    }
}

// MARK: - What commands write

extension JSONSchema {
    /// Records an issue for each document of a run that is not as its schema says.
    static func expectDocuments(of outcome: Command.Outcome, _ arguments: [String]) throws {
        let options = arguments.prefix { $0 != "--" }
        guard options.contains("--json") || options.contains("-j") else { return }
        let command = options.contains("--version") ? "version" : options.first { all[$0] != nil }
        // An export to standard output is the cache itself, and a token may be asked for in another format.
        if let command, outcome.output.hasPrefix("{\"schemaVersion\"") {
            try expect(outcome.output, as: command)
        } else if let command, command != "export", outcome.output.hasPrefix("{\""), !options.contains("--format") {
            Issue.record("\(command) --json has no schemaVersion: \(outcome.output)")
        }
        for line in outcome.error.split(separator: "\n") where line.hasPrefix("{") {
            try expect(String(line), as: line.hasPrefix("{\"error\"") ? "error" : "device-authorization")
        }
    }

    private static func expect(_ text: String, as name: String) throws {
        let schema = try #require(all[name], "no schema \(name)")
        for problem in try schema.problems(of: text) { Issue.record("\(name) --json: \(problem)") }
    }
}
