import Foundation
import Synchronization

/// A run of the program beside the test, which kills it at the end.
final class StartedCommand: Sendable {
    private let process: pid_t
    private let status = Mutex<Int32?>(nil)

    /// Starts the program, which writes its errors into the file `errors`.
    init(
        _ arguments: [String],
        environment: [String: String],
        in directory: ScratchDirectory,
        errors: String = "/dev/null"
    ) throws {
        var actions = SpawnActions()
        actions.open("/dev/null", O_RDONLY, as: STDIN_FILENO)
        actions.open("/dev/null", O_WRONLY, as: STDOUT_FILENO)
        actions.open(errors, O_WRONLY | O_CREAT, as: STDERR_FILENO)
        process = try actions.spawn(Command.binary, arguments, environment: environment, home: directory)
    }

    func send(_ signal: Int32) { kill(process, signal) }

    /// Waits for its end and returns its exit status.
    func end() async throws -> Int32 {
        try await onOwnThread { [self] in
            status.withLock { status in
                let ended = status ?? SpawnActions.wait(for: process)
                status = ended
                return ended
            }
        }
    }

    deinit {
        guard status.withLock(\.self) == nil else { return }
        send(SIGKILL)
        _ = SpawnActions.wait(for: process)
    }
}
