/// Why a contact was not challenged.
struct ContactFailure: Error {
    let reason: RegisterStrongAuthChallengeError

    /// The request that failed; nil where nothing was sent.
    let failure: NativeFailure?
}
