public import OAuth

/// The tenant wants to know more of the person who signs up.
public struct SignUpAttributesRequiredState: Sendable {
    let flow: NativeFlow
    let token: Secret

    /// What is asked for on this page.
    public let attributes: [RequiredAttribute]

    /// Submits attributes by name; several values of one attribute are joined by commas.
    ///
    /// - Throws: the error, with this state for another try where nothing was sent.
    public func submitAttributes(
        _ attributes: JSON.Object
    ) async throws(StepError<AttributesRequiredErrorKind, SignUpAttributesRequiredState>) -> SignUpAttributesResult {
        guard let text = attributes.serializedAttributes else {
            let reason = AttributesRequiredError(.generalError, JSON.Object.attributeFlaw, flow.correlationID)
            throw StepError(reason, self)
        }
        do throws(NativeFailure) {
            switch try await flow.continueSignUp("attributes", token, attributes: text) {
            case .completed(let state): return .completed(state)
            case .attributesRequired(let state): return .attributesRequired(state)
            case .credentialRequired: throw flow.unexpected("asks for a password", at: .signUpContinue).ending()
            }
        } catch {
            let names = error.invalidAttributes
            if error.refusal?.isInvalidAttributes(names) == true { return .attributesInvalid(names, self) }
            throw StepError(AttributesRequiredError(error, in: flow), error.keepsState ? self : nil)
        }
    }
}
