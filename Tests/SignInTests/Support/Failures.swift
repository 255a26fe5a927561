import OAuth
import SignIn
import TokenManagement

/// The error that a sign-in ends with.
func signInError(_ body: () async throws -> Void) async throws -> SignInError? {
    do {
        try await body()
        return nil
    } catch let error as SignInError {
        return error
    }
}

/// The error that a silent request ends with.
func acquisitionError(_ body: () async throws -> Void) async throws -> AcquisitionError? {
    do {
        try await body()
        return nil
    } catch let error as AcquisitionError {
        return error
    }
}

/// The parameters of an address.
func parameters(of address: String) -> [String: String] {
    let query = address.split(separator: "?", maxSplits: 1).last ?? ""
    return FormText.fields(String(query))
}
