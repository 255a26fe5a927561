/// Hears that somebody is signed in.
@MainActor
public protocol SignInCompletedDelegate: AnyObject, Sendable {
    func onSignInCompleted(result: MSALNativeAuthUserAccountResult)
}

extension SignInCompletedDelegate {
    public func onSignInCompleted(result: MSALNativeAuthUserAccountResult) {
        UnheardCallback.tell("onSignInCompleted(result:)")
    }

    func hear(_ account: NativeAuthUserAccount, else report: @escaping UnheardCallback.Report) {
        UnheardCallback.hear(else: report) { onSignInCompleted(result: MSALNativeAuthUserAccountResult(account)) }
    }
}
