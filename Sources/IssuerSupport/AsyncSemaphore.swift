/// Lets a few tests in at a time, so that real deadlines hold on a machine with two cores.
actor AsyncSemaphore {
    static let shared = AsyncSemaphore(places: 8)

    private var places: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(places: Int) { self.places = places }

    func wait() async {
        guard places == 0 else {
            places -= 1
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    func signal() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        places += 1
    }
}
