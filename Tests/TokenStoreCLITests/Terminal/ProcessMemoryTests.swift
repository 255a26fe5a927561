import CProcess
import Foundation
import TestTraits
import Testing

/// What is in the memory of the program stays out of core dumps and debuggers of the same user.
@Suite(.onWaitingThreads)
struct ProcessMemoryTests {
    #if os(Linux)
    @Test func `a process that forbids dumps is not dumpable`() async {
        await #expect(processExitsWith: .success) {
            CProcessForbidDumps()
            exit(CProcessIsDumpable() == 0 ? 0 : 1)
        }
    }

    /// The command line is told by the limit, which the kernel shows to everyone who may see the process.
    @Test func `the program forbids its dumps before it reads anything`() async throws {
        let scratch = try ScratchDirectory()
        let pipe = scratch.path("pipe")
        try #require(mkfifo(pipe, 0o600) == 0)
        var actions = SpawnActions()
        for descriptor in [STDOUT_FILENO, STDERR_FILENO] { actions.open("/dev/null", O_WRONLY, as: descriptor) }
        let script = "ulimit -c unlimited && exec \"$0\" import \"$1\""
        let process = try actions.spawn(
            "/bin/sh",
            ["-c", script, Command.binary, pipe],
            environment: ["TOKENSTORE_PATH": scratch.store],
            home: scratch
        )
        // Opening the pipe waits for the program to open it, which it does after it has forbidden them.
        let limits = try await onOwnThread {
            let descriptor = open(pipe, O_WRONLY)
            defer { close(descriptor) }
            return try String(contentsOf: URL(filePath: "/proc/\(process)/limits"), encoding: .utf8)
        }
        let line = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(line.split(separator: " ")[4] == "0")
        #expect(try await onOwnThread { SpawnActions.wait(for: process) } == 1, "an empty document is none")
    }
    #endif
}
