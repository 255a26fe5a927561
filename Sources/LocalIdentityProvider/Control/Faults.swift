import OAuth

package final class Faults: Sendable {
    private let waiting = Guarded<[Fault]>([])

    package func add(_ fault: Fault) { waiting.withLock { $0.append(fault) } }

    package func removeAll() { waiting.withLock { $0.removeAll() } }

    package var all: [Fault] { waiting.withLock { $0 } }

    /// The oldest fault due at `route`, counted as used.
    func take(at route: String) -> Fault? {
        waiting.withLock { faults in
            guard let index = faults.firstIndex(where: { $0.route == route }) else { return nil }
            if faults[index].after > 0 {
                faults[index].after -= 1
                return nil
            }
            let fault = faults[index]
            if let times = fault.times {
                if times > 1 { faults[index].times = times - 1 } else { faults.remove(at: index) }
            }
            return fault
        }
    }
}
