#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Tests that take many seconds, or a browser or a compiler, run where they are asked for.
public enum SlowTests {
    public static let areWanted = ProcessInfo.processInfo.environment["TOKENSTORE_SLOW_TESTS"] == "1"
    public static let reason = "slow: runs where TOKENSTORE_SLOW_TESTS is 1"
}
