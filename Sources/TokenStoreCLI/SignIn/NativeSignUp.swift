import NativeAuthentication
import OAuth

/// A sign-up without a browser, step by step as the tenant asks.
struct NativeSignUp {
    let application: NativeAuthPublicClientApplication
    let prompter: TerminalPrompter
    let username: String
    let attributes: JSONValue.Object?

    /// The advice where Ctrl-C ends a step that may have made the account.
    let afterSubmission: String

    /// Makes the account.
    func run() throws -> SignInAfterSignUpState {
        let parameters = SignUpParameters(username: username, attributes: attributes)
        switch try prompter.perform({ [application] in try await application.signUp(parameters) }) {
        case .attributesInvalid(let names): throw TerminalPrompter.refused(names)
        case .codeRequired(let state): return try submitCode(state)
        }
    }

    private func submitCode(_ first: SignUpCodeRequiredState) throws -> SignInAfterSignUpState {
        let result: SignUpVerifyCodeResult = try prompter.settle(first, canResend: true) { state in
            guard let code = try prompter.code(state.delivery) else {
                return .again(try prompter.perform { try await state.resendCode() })
            }
            return .done(try prompter.perform(ifCancelled: afterSubmission) { try await state.submitCode(code) })
        }
        switch result {
        case .completed(let state): return state
        case .attributesRequired(let state): return try submitAttributes(state)
        case .passwordRequired(let state): return try submitPassword(state)
        }
    }

    private func submitPassword(_ first: SignUpPasswordRequiredState) throws -> SignInAfterSignUpState {
        let result: SignUpPasswordResult = try prompter.settle(first) { state in
            let password = try prompter.password(isNew: true)
            return .done(
                try prompter.perform(ifCancelled: afterSubmission) { try await state.submitPassword(password) }
            )
        }
        switch result {
        case .completed(let state): return state
        case .attributesRequired(let state): return try submitAttributes(state)
        }
    }

    /// Answers one page after another.
    private func submitAttributes(_ first: SignUpAttributesRequiredState) throws -> SignInAfterSignUpState {
        var refused: [String] = []
        var pagesLeft = 20
        return try prompter.settle(first) { state in
            pagesLeft -= 1
            guard pagesLeft > 0 else { throw TerminalPrompter.refused(state.attributes.map(\.name)) }
            let values = try prompter.attributes(state.attributes, given: attributes, refused: refused)
            let result = try prompter.perform(ifCancelled: afterSubmission) {
                try await state.submitAttributes(values)
            }
            switch result {
            case .completed(let state): return .done(state)
            case .attributesRequired(let next):
                // A value that was given and is asked for again was ignored.
                refused += values.members.map(\.name)
                return .again(next)
            case .attributesInvalid(let names, let next):
                // The same values again would have the same answer.
                let canAnswer = names.contains { name in
                    values[name] != nil || prompter.mayAsk && state.attributes.contains { $0.name == name }
                }
                guard canAnswer else { throw TerminalPrompter.refused(names) }
                prompter.tell("the tenant does not take the value of \(names.joined(separator: ", "))")
                refused += names
                return .again(next)
            }
        }
    }
}
