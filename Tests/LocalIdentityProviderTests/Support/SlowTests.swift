import TestSupport
import Testing

extension Tag {
    /// Takes many seconds, or a browser or a compiler.
    @Tag static var slow: Self
}

extension Trait where Self == ConditionTrait {
    /// Left out unless slow tests are wanted.
    static var ifSlowTestsAreWanted: Self { .enabled(if: SlowTests.areWanted, "\(SlowTests.reason)") }
}
