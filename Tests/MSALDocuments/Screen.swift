import Foundation
import MSAL

/// What the guides' view controllers have besides the code that the guides show.
open class Screen: UIViewController {
    public let nativeAuth: MSALNativeAuthPublicClientApplication
    public let emailTextField = UITextField()
    public let passwordTextField = UITextField()
    public let resultTextView = UITextView()

    /// What the user enters as the code.
    public var userSuppliedCode = ""

    /// What the user enters as the code when asked for it again.
    public var newCode: @MainActor () -> String = { "" }

    init(_ nativeAuth: MSALNativeAuthPublicClientApplication) {
        self.nativeAuth = nativeAuth
        super.init()
        viewDidLoad()
    }

    /// Presses a button.
    open func press(_ button: String) {}

    func retrieveNewCode() -> String { newCode() }

    func showResultText(_ text: String) { resultTextView.text = text }

    func updateUI() {}
}

/// The same for sign-ins in a browser.
open class B2CScreen: UIViewController {
    public let loggingText = UITextView()
    public var accessToken: String?

    /// Presses a button.
    open func press(_ button: String) {}

    nonisolated func updateLoggingText(text: String) {
        DispatchQueue.main.async { self.loggingText.text = text }
    }
}

/// The guides print tokens; here they are not to be seen.
func print(_ items: Any...) {}
