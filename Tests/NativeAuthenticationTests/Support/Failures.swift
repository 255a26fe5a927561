import IssuerSupport

/// The error that a step with one argument ends with.
func failure<Input, Output, Failure: Error>(
    of step: (Input) async throws(Failure) -> Output,
    _ input: Input
) async throws -> Failure {
    do {
        _ = try await step(input)
    } catch {
        return error
    }
    throw ExpectationFailure("a failure")
}

/// The error that a step without arguments ends with.
func failure<Output, Failure: Error>(_ step: () async throws(Failure) -> Output) async throws -> Failure {
    do {
        _ = try await step()
    } catch {
        return error
    }
    throw ExpectationFailure("a failure")
}

/// The error that a step with two arguments ends with.
func failure<First, Second, Output, Failure: Error>(
    of step: (First, Second) async throws(Failure) -> Output,
    _ first: First,
    _ second: Second
) async throws -> Failure {
    do {
        _ = try await step(first, second)
    } catch {
        return error
    }
    throw ExpectationFailure("a failure")
}
