package import LocalIdentityProvider
import TestSupport

extension LocalIdentityProvider {
    /// Lets a few tests in at a time, so that real deadlines hold on a machine with two cores.
    private static let places = AsyncSemaphore(places: 8)

    /// Runs `body` beside a provider, when it is its turn; the provider ends with it.
    package static func running(
        _ configuration: Configuration,
        isolation: isolated (any Actor)? = #isolation,
        _ body: (LocalIdentityProvider) async throws -> Void
    ) async throws {
        await places.wait()
        let outcome: Result<Void, any Error>
        do {
            let provider = try await start(configuration)
            do {
                outcome = .success(try await body(provider))
            } catch {
                outcome = .failure(error)
            }
            await provider.stop()
        } catch {
            outcome = .failure(error)
        }
        places.signal()
        try outcome.get()
    }
}

extension LocalIdentityProvider.Configuration {
    /// One address, keys made earlier, and a thread for the provider: programs under test give it only
    /// some seconds to answer.
    package static var forTests: Self {
        get throws {
            var configuration = Self()
            configuration.hosts = ["127.0.0.1"]
            configuration.signingKeys = try SigningKeys.pem.get()
            configuration.executor = OwnThread()
            return configuration
        }
    }
}
