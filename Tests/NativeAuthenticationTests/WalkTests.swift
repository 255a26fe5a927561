import IssuerSupport
import SignIn
import TestSupport
import Testing
import TokenManagement
import TokenStorage

struct WalkTests {
    @Test func `random walks with faults end in no stuck state and no partial account`() async throws {
        let directory = try TemporaryDirectory()
        let findings = try await WalkFindings.walks(60, seed: 6, directory: directory.path)
        #expect(findings.problems == [])
        #expect(findings.walks == 60)
        #expect(findings.signIns > 20)
    }
}
