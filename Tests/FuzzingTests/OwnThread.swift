import Dispatch

/// A thread beside the cooperative pool: what computes for seconds must not keep the servers of other tests waiting.
final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "fuzzing")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
