import Dispatch
import Foundation
import Testing

@testable import Sealing

struct DetachedThreadTests {
    @Test func `a queue is served while 300 threads wait`() async {
        let gate = DispatchSemaphore(value: 0)
        var count = 0
        for _ in 0..<300 where DetachedThread.start({ gate.wait() }) { count += 1 }
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "served").async { continuation.resume() }
        }
        for _ in 0..<count { gate.signal() }
        #expect(count == 300)
    }

    @Test func `a thread leaves signals to others, but for its own faults`() async {
        let held = await withCheckedContinuation { continuation in
            let isStarted = DetachedThread.start {
                var signals = sigset_t()
                pthread_sigmask(SIG_BLOCK, nil, &signals)
                continuation.resume(returning: [SIGTERM, SIGINT, SIGSEGV].map { sigismember(&signals, $0) == 1 })
            }
            if !isStarted { continuation.resume(returning: []) }
        }
        #expect(held == [true, true, false])
    }
}
