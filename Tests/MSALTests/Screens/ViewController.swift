import IssuerSupport
import MSAL

/// What the documents' view controllers have besides their flows.
@MainActor
class ViewController {
    struct TextField {
        var text: String?
    }

    let nativeAuth: MSALNativeAuthPublicClientApplication
    var emailTextField = TextField()
    var passwordTextField = TextField()
    let resultTextView = TextView()
    var accountResult: MSALNativeAuthUserAccountResult?
    var userSuppliedCode = ""

    init(_ nativeAuth: MSALNativeAuthPublicClientApplication) {
        self.nativeAuth = nativeAuth
        viewDidLoad()
    }

    func viewDidLoad() { accountResult = nativeAuth.getNativeAuthUserAccount() }

    func showResultText(_ text: String) { resultTextView.text = text }

    func updateUI() {}

    /// What the person enters when asked again.
    func retrieveNewCode() -> String { userSuppliedCode }

    func signOutPressed(_: Any) {
        guard let accountResult = accountResult else {
            print("Not currently signed in")
            resultTextView.text = "Not currently signed in"
            return
        }

        accountResult.signOut()

        self.accountResult = nil

        resultTextView.text = "Signed out"
    }
}
