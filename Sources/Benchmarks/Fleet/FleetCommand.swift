import ArgumentParser
import TestSupport

struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet",
        abstract: "Times a store on a PostgreSQL server by turns with a floor in C, and kills, cuts and crowds it.",
        discussion: """
            Starts servers of its own, a primary with a synchronous standby where one is to be lost; PostgreSQL, \
            libpq5 and openssl have to be installed. The floor uses libpq's C API on the same server and tables: \
            prepared statements, binary values, all of a sign-in in one batch, and the same BoringSSL. It asks \
            nothing before it writes, and knows its accounts' rows.

            Exits with 1 if anything was lost, doubled or refused; the times are for the reader.
            """
    )

    static var bars: [any Benchmark.Type] {
        [
            FleetLookupBenchmark.self, FleetSignInBenchmark.self, FleetWritersBenchmark.self, FleetRaceBenchmark.self,
            FleetRefreshLossBenchmark.self, FleetWriterLossBenchmark.self, FleetCutBenchmark.self,
            FleetCrowdBenchmark.self, FleetSecretsBenchmark.self, FleetRekeyBenchmark.self,
            FleetHotLookupBenchmark.self, FleetSignOutBenchmark.self,
            FleetScaleBenchmark.self, FleetListBenchmark.self,
        ]
    }

    @OptionGroup var options: BenchOptions
    @OptionGroup var peers: PeerOption

    @Option(help: "How many accounts the large store has (F4); 1,000,000 take 20 GB.")
    var accounts: Int?

    func run() throws {
        guard TestServer.isInstalled else { throw BenchFailure("PostgreSQL 14 or later is not installed, or libpq5") }
        let rows = try options.run(Self.configuration.commandName, Self.bars) {
            $0.accounts = accounts ?? $0.scaled(1_000_000, quick: 5_000)
            try $0.findPeers(peers)
        }
        if rows.contains(where: \.isFailure) { throw ExitCode.failure }
    }
}
