import Dispatch

/// A thread beside the cooperative pool, which some hundred tests fill at once: what computes for seconds must not keep
/// others waiting there, and what answers within a time limit must not wait.
package final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "own-thread")

    package init() {}

    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
