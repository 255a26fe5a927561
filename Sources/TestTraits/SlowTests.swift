// A release build with the static library of Swift has no module for tests.
#if canImport(Testing)
public import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Tag {
    /// Takes many seconds, or a browser or a compiler.
    @Tag public static var slow: Self
}

extension Trait where Self == ConditionTrait {
    /// Leaves a slow test out unless the environment asks for it.
    public static var ifSlowTestsAreWanted: Self {
        let isWanted = ProcessInfo.processInfo.environment["TOKENSTORE_SLOW_TESTS"] == "1"
        return .enabled(if: isWanted, "slow: runs where TOKENSTORE_SLOW_TESTS is 1")
    }
}
#endif
