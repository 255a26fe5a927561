import Foundation
import TestTraits
import Testing

/// Arguments and variables that are not text.
@Suite(.onWaitingThreads)
struct RawBytesTests {
    /// Runs a script of bash, whose `$'\xff'` is a byte that no text has; what is written is in hexadecimal.
    private func shell(_ script: String, in scratch: ScratchDirectory) throws -> Command.Outcome {
        let binaries = (Command.binary as NSString).deletingLastPathComponent
        let variables = ["PATH": "\(binaries):/usr/bin:/bin", "TOKENSTORE_PATH": scratch.store]
        var command = Command(arguments: ["-c", "cd \"$HOME\"\n\(script)"], environment: variables)
        command.program = "/usr/bin/bash"
        return try command.run(in: scratch)
    }

    @Test func `exec hands on arguments and variables byte by byte`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let exec = "tokenstore exec --account mara@example.net --scope tasks.read --"
        let hex = "od -An -v -tx1 | tr -d ' \\n'"
        let argument = try shell("\(exec) printf %s a$'\\xff'b | \(hex)", in: scratch)
        #expect(argument.output == "61ff62", "\(argument.error)")
        let value = try shell("V=a$'\\xff'b \(exec) sh -c 'printf %s \"$V\"' | \(hex)", in: scratch)
        #expect(value.output == "61ff62", "\(value.error)")
        // V\xffW=1 among the variables.
        let name = try shell("env V$'\\xff'W=1 \(exec) env | \(hex)", in: scratch)
        #expect(name.output.contains("56ff573d31"), "\(name.error)")
        let program = try shell("cp /usr/bin/true p$'\\xff'; \(exec) ./p$'\\xff'", in: scratch)
        #expect(program.status == 0, "\(program.error)")
    }

    #if os(Linux)
    private static let compiler = ["/usr/bin/clang", "/usr/bin/cc"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    @Test(.enabled(if: compiler != nil, "a C compiler is installed"))
    func `a library that sets a variable before the start hides no argument`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        let source = "__attribute__((constructor)) static void start(void) { setenv(\"ADDED\", \"1\", 1); }"
        try "#include <stdlib.h>\n\(source)\n".write(toFile: scratch.path("early.c"), atomically: true, encoding: .utf8)
        let made = try shell("\(try #require(Self.compiler)) -shared -fPIC -o early.so early.c", in: scratch)
        #expect(made.status == 0, "\(made.error)")
        let exec = "tokenstore exec --account mara@example.net --scope tasks.read --"
        let hex = "od -An -v -tx1 | tr -d ' \\n'"
        let outcome = try shell("LD_PRELOAD=./early.so \(exec) printf %s a$'\\xff'b | \(hex)", in: scratch)
        #expect(outcome.output == "61ff62", "\(outcome.error)")
        #expect(try shell("LD_PRELOAD=./early.so tokenstore list --nonsense", in: scratch).status == 64)
    }
    #endif

    @Test func `in a directory that is gone nothing is read or written by a relative name`() throws {
        let scratch = try ScratchDirectory()
        try scratch.fill(.mara)
        for command in ["backup out.db", "restore --yes out.db"] {
            let outcome = try shell("mkdir gone && cd gone && rmdir ../gone && tokenstore \(command)", in: scratch)
            #expect(outcome.status == 1, "\(outcome)")
            #expect(outcome.error.contains("the working directory is gone"), "\(outcome.error)")
        }
    }

    @Test(arguments: [
        "tokenstore list --store ./x$'\\xff'.db", "tokenstore --store ./x$'\\xff'.db import",
        "tokenstore exec --env V$'\\xff' -- true", "tokenstore claims -- a$'\\xff'",
        "TOKENSTORE_PATH=./x$'\\xff'.db tokenstore list",
        "env -u TOKENSTORE_PATH XDG_STATE_HOME=\"$HOME/\"$'\\xff' tokenstore import",
        "env -u TOKENSTORE_PATH HOME=\"$HOME/\"$'\\xff' tokenstore import",
    ])
    func `elsewhere what is not text is refused, and nothing is created`(script: String) throws {
        let scratch = try ScratchDirectory()
        let outcome = try shell(script, in: scratch)
        #expect(outcome.status == 64, "\(outcome.error)")
        #expect(outcome.error.contains("is not valid UTF-8; "), "\(outcome.error)")
        #expect(try scratch.names.isEmpty)
    }
}
