import ArgumentParser

/// Another program that does some of the same work, where it is installed.
protocol Peer {
    static var name: String { get }
    var version: String { get }
}

/// What another program makes of a row's work.
struct PeerFigure: Codable, Equatable {
    let name: String

    /// Nil if it is not installed; then the value is nil too.
    let version: String?
    let unit: ReportRow.Unit
    let value: Spread?

    /// How many were tried, where the value is a count.
    var tried: Int?

    /// In what its work differs from the row's.
    let remark: String

    /// Times are in seconds here, for every unit.
    init<P: Peer>(_ peer: P?, _ remark: String, unit: ReportRow.Unit, _ values: [Double]?) {
        name = P.name
        version = peer?.version
        self.unit = unit
        value = values.map { Spread($0).scaled(unit) }
        self.remark = remark
    }

    init<P: Peer>(_ peer: P?, _ remark: String, failures: Int?, of total: Int?) {
        self.init(peer, remark, unit: .count, failures.map { [Double($0)] })
        tried = total
    }
}

struct PeerOption: ParsableArguments {
    @Option(
        help: "A Python with msal, msal-extensions and psycopg2, for the peer column; oidc-agent is found by itself."
    )
    var peerPython = "python3"
}

extension Bench {
    /// Looks for the programs that the peer column measures.
    mutating func findPeers(_ option: PeerOption) throws {
        msal = try MSALPython(python: option.peerPython, in: directory)
        oidcAgent = try OIDCAgent()
    }
}
