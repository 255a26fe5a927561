import ArgumentParser

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

struct ToolOption: ParsableArguments {
    @Option(help: "The tokenstore program to run; by default the one beside this one.")
    var tool: String?

    var path: String {
        if let tool { return tool }
        let this = ChildProcess.thisProgram
        return String(this[..<(this.lastIndex(of: "/") ?? this.startIndex)]) + "/tokenstore"
    }
}

extension Bench {
    /// The tokenstore program with arguments.
    func tool(_ arguments: String...) throws -> ChildProcess { try tool(arguments) }

    func tool(_ arguments: [String]) throws -> ChildProcess {
        guard FileManager.default.isExecutableFile(atPath: tool) else {
            throw BenchFailure(
                "\(tool) is missing; build it with 'swift build -c release --static-swift-stdlib', or name it with --tool"
            )
        }
        return ChildProcess(tool, arguments)
    }
}
