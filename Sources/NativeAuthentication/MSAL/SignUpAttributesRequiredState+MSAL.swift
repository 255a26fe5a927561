import OAuth

extension SignUpAttributesRequiredState {
    public func submitAttributes(attributes: [String: Any], delegate: any SignUpAttributesRequiredDelegate) {
        let attributes = JSON.Object(attributes: attributes)
        Task {
            do throws(StepError<AttributesRequiredErrorKind, SignUpAttributesRequiredState>) {
                switch try await submitAttributes(attributes) {
                case .attributesRequired(let state):
                    await delegate.hear(state) { delegate.onSignUpAttributesRequiredError(error: .unheard($0)) }
                case .attributesInvalid(let names, let state):
                    await delegate.onSignUpAttributesInvalid(attributeNames: names, newState: state)
                case .completed(let state):
                    await delegate.hear(state) { delegate.onSignUpAttributesRequiredError(error: .unheard($0)) }
                }
            } catch {
                await delegate.onSignUpAttributesRequiredError(error: error.error)
            }
        }
    }
}
