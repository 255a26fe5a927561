/// What scrypt spends on one guess of a passphrase (RFC 7914).
package struct ScryptCost: Hashable, Sendable {
    /// N, a power of two.
    package let rounds: Int
    /// r.
    package let blockSize: Int
    /// p.
    package let parallelism: Int

    /// A quarter of a second and 128 MiB.
    package static let standard = ScryptCost(rounds: 1 << 17, blockSize: 8, parallelism: 1)

    package init(rounds: Int, blockSize: Int, parallelism: Int) {
        self.rounds = rounds
        self.blockSize = blockSize
        self.parallelism = parallelism
    }

    /// Whether a store may ask for it: at most 1 GiB, and at most 16 times the standard work.
    ///
    /// A hostile store must not make its reader run out of memory or time.
    var isBearable: Bool {
        guard (2...(1 << 20)).contains(rounds), rounds.nonzeroBitCount == 1 else { return false }
        guard (1...16).contains(blockSize), (1...16).contains(parallelism) else { return false }
        return mebibytes <= 1024 && rounds * blockSize * parallelism <= 16 << 20
    }

    var mebibytes: Int { 128 * rounds * blockSize / (1 << 20) }
}
