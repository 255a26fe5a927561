import TokenManagement

/// The error that `body` throws, if it is one of acquisition.
func acquisitionError(_ body: () async throws -> TokenResult) async throws -> AcquisitionError? {
    do {
        _ = try await body()
        return nil
    } catch let error as AcquisitionError {
        return error
    }
}
