import Foundation
import Testing

@testable import Benchmarks

struct PeerFigureTests {
    private struct Clerk: Peer {
        static let name = "Clerk"
        let version = "1.2"
    }

    private func members(_ figure: PeerFigure) throws -> NSDictionary {
        try #require(JSONSerialization.jsonObject(with: JSONEncoder().encode(figure)) as? NSDictionary)
    }

    @Test func `a peer that is not installed is reported without a figure`() throws {
        let figure = PeerFigure(nil as Clerk?, "by hand", unit: .milliseconds, nil)
        #expect(Report.text(figure) == "Clerk is not installed")
        #expect(try members(figure) == ["name": "Clerk", "unit": "ms", "remark": "by hand"])
    }

    @Test func `a peer's times are shown as median and spread, in the unit of the figure`() throws {
        let figure = PeerFigure(Clerk(), "by hand", unit: .milliseconds, [0.5, 0.001, 0.002])
        #expect(Report.text(figure) == "2 (1–500) ms Clerk, by hand")
        let members = try members(figure)
        #expect(members["version"] as? String == "1.2")
        #expect(members["value"] as? [String: Double] == ["least": 1, "median": 2, "greatest": 500])
    }

    @Test func `a peer's count stands beside how many were tried`() throws {
        let figure = PeerFigure(Clerk(), "", failures: 3, of: 60)
        #expect(Report.text(figure) == "3 of 60 Clerk")
        #expect(try members(figure)["tried"] as? Int == 60)
    }
}
