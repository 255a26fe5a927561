/// Lets a few tests in at a time, so that real deadlines hold on a machine with two cores.
actor AsyncSemaphore {
    static let shared = AsyncSemaphore(places: 8)

    private var places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) { self.places = places }

    func wait() async {
        await withCheckedContinuation { continuation in
            // Looked at here: a task with an executor of its own gives way between a look before the wait, and it.
            guard places == 0 else {
                places -= 1
                return continuation.resume()
            }
            waiting.append(continuation)
        }
    }

    func signal() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        places += 1
    }
}
