import OAuth
import Synchronization

/// Lets a few tasks in at a time; the others wait for a place without a thread.
package final class AsyncSemaphore: Sendable {
    private let places: LockedValue<(free: Int, waiting: [CheckedContinuation<Void, Never>])>

    package init(places: Int) { self.places = LockedValue((free: places, waiting: [])) }

    /// Takes a place once one is free.
    package func wait() async {
        await withCheckedContinuation { continuation in
            // Looked at here: a task with an executor of its own gives way between a look before the wait, and it.
            let isFree = places.withLock { places in
                guard places.free == 0 else {
                    places.free -= 1
                    return true
                }
                places.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
    }

    /// Gives a place back, to the one who has waited longest.
    package func signal() {
        let next = places.withLock { places -> CheckedContinuation<Void, Never>? in
            guard places.waiting.isEmpty else { return places.waiting.removeFirst() }
            places.free += 1
            return nil
        }
        next?.resume()
    }
}
