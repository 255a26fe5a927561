#if canImport(Testing)
import TestSupport
package import Testing

extension Trait where Self == ConditionTrait {
    /// Leaves tests out where no PostgreSQL server can be started.
    package static var ifServerIsInstalled: Self {
        .enabled(if: TestServer.isInstalled, "PostgreSQL and libpq5 are installed")
    }
}
#endif
