import Foundation
import TestTraits
import Testing

/// Instants as the program writes them, seen through a claim that holds one.
@Suite(.onWaitingThreads)
struct TimestampTests {
    @Test(arguments: [
        (0, "1970-01-01T00:00:00Z"), (951_782_400, "2000-02-29T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
        (1_790_003_599, "2026-09-21T15:13:19Z"), (4_107_542_400, "2100-03-01T00:00:00Z"),
        (-2_203_891_200, "1900-03-01T00:00:00Z"), (253_402_300_799, "9999-12-31T23:59:59Z"),
        (253_402_300_800, "9999-12-31T23:59:59Z"), (-62_167_219_200, "0000-01-01T00:00:00Z"),
    ])
    func `an instant is written as RFC 3339`(epoch: Int, expected: String) throws {
        let scratch = try ScratchDirectory()
        var mara = CachedUser.mara
        mara.claims["updated_at"] = epoch
        try scratch.fill(mara)
        let line = try scratch.run("claims").lines.first { $0.contains("updated_at") }
        #expect(line?.split(separator: " ").last.map(String.init) == expected)
    }
}
