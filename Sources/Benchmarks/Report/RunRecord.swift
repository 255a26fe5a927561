#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What one run of a command measured, on which machine, with what and when.
struct RunRecord: Codable, Equatable {
    /// A reader refuses other formats than this one.
    static let format = 1

    private(set) var format = Self.format
    let command: String
    let date: Date

    /// Whether the counts were short, as for a sign of life.
    let isQuick: Bool
    let rounds: Int

    /// Whether the program was built for debugging: then its times say little.
    let isDebugBuild: Bool
    let machine: Machine

    /// Names and versions of what was measured, and of what it was built with.
    let versions: [String: String]
    let rows: [ReportRow]

    init(
        command: String,
        date: Date,
        isQuick: Bool,
        rounds: Int,
        isDebugBuild: Bool,
        machine: Machine,
        versions: [String: String],
        rows: [ReportRow]
    ) {
        (self.command, self.date, self.isQuick, self.rounds) = (command, date, isQuick, rounds)
        (self.isDebugBuild, self.machine, self.versions, self.rows) = (isDebugBuild, machine, versions, rows)
    }

    /// Adds the run to the end of a file, as a line of JSON.
    func append(to file: String) throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let line = try encoder.encode(self) + Data("\n".utf8)
        let present = FileManager.default.fileExists(atPath: file) ? try Data(contentsOf: Self.url(file)) : Data()
        try (present + line).write(to: Self.url(file), options: .atomic)
    }

    /// All runs in a file.
    static func runs(in file: String) throws -> [RunRecord] {
        guard FileManager.default.fileExists(atPath: file) else { throw BenchFailure("\(file) does not exist") }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let lines = try Data(contentsOf: url(file)).split(separator: UInt8(ascii: "\n"))
        return try lines.enumerated().map { index, line in
            let place = "\(file), line \(index + 1)"
            let run: RunRecord
            do { run = try decoder.decode(RunRecord.self, from: Data(line)) } catch {
                throw BenchFailure("\(place): not a run of tokenstore-bench with --record")
            }
            guard run.format == format else { throw BenchFailure("\(place): format \(run.format) is not known") }
            return run
        }
    }

    private static func url(_ file: String) -> URL { URL(fileURLWithPath: file) }
}
