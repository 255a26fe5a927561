// The code of a guide to MSAL, letter by letter; what the guide leaves to the app is marked as the app's own.
// swift-format-ignore-file

import Foundation
import MSAL

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Sign-in in a browser by a user flow of Azure AD B2C.
@MainActor
public func b2c(host: String, api: String) -> B2CScreen { ViewController(host: host, api: api) }

private final class ViewController: B2CScreen, URLSessionDelegate {
    let kTenantName = "fabrikvine.onmicrosoft.com"
    let kAuthorityHostName: String
    let kClientID = "b2c-app"
    let kRedirectUri = "msauth.com.example.tokenstore://auth"
    let kSignupOrSigninPolicy = "b2c_1_susi"
    let kEditProfilePolicy = "b2c_1_edit"
    let kGraphURI: String
    let kScopes: [String] = ["api://todolist/ToDoList.Read"]

    // The provider on loopback has no certificate.
    let kEndpoint = "http://%@/tfp/%@/%@"

    var applicationContext: MSALPublicClientApplication!
    var webViewParameters: MSALWebviewParameters?

    init(host: String, api: String) {
        kAuthorityHostName = host
        kGraphURI = api
        super.init()
        viewDidLoad()
    }

    override func viewDidLoad() {
        super.viewDidLoad()
        do {

            let signinPolicyAuthority = try self.getAuthority(forPolicy: self.kSignupOrSigninPolicy)
            let editProfileAuthority = try self.getAuthority(forPolicy: self.kEditProfilePolicy)

            let pcaConfig = MSALPublicClientApplicationConfig(clientId: kClientID, redirectUri: kRedirectUri, authority: signinPolicyAuthority)
            pcaConfig.knownAuthorities = [signinPolicyAuthority, editProfileAuthority]

            self.applicationContext = try MSALPublicClientApplication(configuration: pcaConfig)
            self.initWebViewParams()

            } catch {
                self.updateLoggingText(text: "Unable to create application \(error)")
            }
    }

    func initWebViewParams() {
        self.webViewParameters = MSALWebviewParameters(authPresentationViewController: self)
        self.webViewParameters?.webviewType = .default
    }

    func authorizationButton(_ sender: UIButton) {
        do {
            let authority = try self.getAuthority(forPolicy: self.kSignupOrSigninPolicy)
            let parameters = MSALInteractiveTokenParameters(scopes: kScopes, webviewParameters: self.webViewParameters!)
            parameters.promptType = .selectAccount
            parameters.authority = authority

            applicationContext.acquireToken(with: parameters) { (result, error) in

            // On error code
            guard let result = result else {
                self.updateLoggingText(text: "Could not acquire token: \(error ?? "No error information" as! Error)")
                return
            }

            // On success code
            self.accessToken = result.accessToken
            self.updateLoggingText(text: "Access token is \(self.accessToken ?? "Empty")")
            }
        } catch {
            self.updateLoggingText(text: "Unable to create authority \(error)")
        }
    }

    func editProfile(_ sender: UIButton) {
        do {
            let authority = try self.getAuthority(forPolicy: self.kEditProfilePolicy)
            let thisAccount = try self.getAccountByPolicy(
                withAccounts: applicationContext.allAccounts(), policy: kEditProfilePolicy)
            let parameters = MSALInteractiveTokenParameters(
                scopes: kScopes, webviewParameters: self.webViewParameters!)
            parameters.authority = authority
            parameters.account = thisAccount
            applicationContext.acquireToken(with: parameters) { (result, error) in
                if let error = error {
                    self.updateLoggingText(text: "Could not edit profile: \(error)")
                } else {
                    self.updateLoggingText(text: "Successfully edited profile")
                }
            }
        } catch {
            self.updateLoggingText(text: "Unable to construct parameters before calling acquire token \(error)")
        }
    }

    func refreshToken(_ sender: UIButton) {
        do {

        // Get the authority using the sign-in or sign-up user flow
        let authority = try self.getAuthority(forPolicy: self.kSignupOrSigninPolicy)

        // Get the current account from the application context
        guard let thisAccount = try self.getAccountByPolicy(withAccounts: applicationContext.allAccounts(), policy: kSignupOrSigninPolicy) else {
            self.updateLoggingText(text: "There is no account available!")
            return
        }

        // Configure the acquire token silent parameters
        let parameters = MSALSilentTokenParameters(scopes: kScopes, account:thisAccount)
        parameters.authority = authority
        parameters.loginHint = "username"

        // Acquire token silent
        self.applicationContext.acquireTokenSilent(with: parameters) { (result, error) in
            if let error = error {

                let nsError = error as NSError

                // interactionRequired means we need to ask the user to sign in. This usually happens
                // when the user's Refresh Token is expired or if the user has changed their password
                // among other possible reasons.

                if (nsError.domain == MSALErrorDomain) {

                    if (nsError.code == MSALError.interactionRequired.rawValue) {

                        // Start an interactive authorization code
                        // Notice we supply the account here. This ensures we acquire token for the same account
                        // as we originally authenticated.
                        let parameters = MSALInteractiveTokenParameters(  // own
                            scopes: self.kScopes, webviewParameters: self.webViewParameters!)  // own
                        parameters.account = thisAccount  // own
                        parameters.authority = authority  // own
                        self.applicationContext.acquireToken(with: parameters) { (result, error) in  // own
                            self.updateLoggingText(text: result == nil ? "Could not sign in: \(error!)" : "Signed in again")  // own
                        }  // own
                        return  // own
                    }
                }

                self.updateLoggingText(text: "Could not acquire token: \(error)")
                return
            }

            guard let result = result else {

                self.updateLoggingText(text: "Could not acquire token: No result returned")
                return
            }

            // On success, set the access token to the accessToken class member.
            // The callGraphAPI method uses the access token to call a web API
            self.accessToken = result.accessToken
                        self.updateLoggingText(text: "Refreshed access token is \(result.accessToken)")  // own
        }
        } catch {
        self.updateLoggingText(text: "Unable to construct parameters before calling acquire token \(error)")
        }
    }

    #if canImport(ObjectiveC)  // own
@objc
#endif  // own
func callGraphAPI(_ sender: UIButton) {
        guard let accessToken = self.accessToken else {
            self.updateLoggingText(text: "Operation failed because could not find an access token!")
            return
        }

        let sessionConfig = URLSessionConfiguration.default
        sessionConfig.timeoutIntervalForRequest = 30
        let url = URL(string: self.kGraphURI)
        var request = URLRequest(url: url!)
        request.setValue("Bearer \(accessToken)", forHTTPHeaderField: "Authorization")
        let urlSession = URLSession(configuration: sessionConfig, delegate: self, delegateQueue: OperationQueue.main)

        self.updateLoggingText(text: "Calling the API....")

        urlSession.dataTask(with: request) { data, response, error in
            guard let validData = data else {
                self.updateLoggingText(text: "Could not call API: \(error ?? "No error information" as! Error)")
                return
            }

            let result = try? JSONSerialization.jsonObject(with: validData, options: [])

            guard let validResult = result as? [String: Any] else {
                self.updateLoggingText(text: "Nothing returned from API")
                return
            }

            self.updateLoggingText(text: "API response: \(validResult.debugDescription)")
            }.resume()
    }

    #if canImport(ObjectiveC)  // own
@objc
#endif  // own
func signoutButton(_ sender: UIButton) {
    do {


        let thisAccount = try self.getAccountByPolicy(withAccounts: applicationContext.allAccounts(), policy: kSignupOrSigninPolicy)

        if let accountToRemove = thisAccount {
            try applicationContext.remove(accountToRemove)
        } else {
            self.updateLoggingText(text: "There is no account to signing out!")
        }
                    if thisAccount != nil { self.updateLoggingText(text: "Signed out") }  // own

    } catch  {
        self.updateLoggingText(text: "Received error signing out: \(error)")
    }
    }

    override func press(_ button: String) {
        switch button {
        case "signIn": authorizationButton(UIButton())
        case "editProfile": editProfile(UIButton())
        case "refresh": refreshToken(UIButton())
        case "callAPI": callGraphAPI(UIButton())
        default: signoutButton(UIButton())
        }
    }

    func getAuthority(forPolicy policy: String) throws -> MSALB2CAuthority {
        guard let authorityURL = URL(string: String(format: self.kEndpoint, self.kAuthorityHostName, self.kTenantName, policy)) else {
            throw NSError(domain: "SomeDomain", code: 1, userInfo: ["errorDescription": "Unable to create authority URL!"])
        }
        return try MSALB2CAuthority(url: authorityURL)
    }

    func getAccountByPolicy(withAccounts accounts: [MSALAccount], policy: String) throws -> MSALAccount? {
        for account in accounts {
            if let homeAccountId = account.homeAccountId, let objectId = homeAccountId.objectId {
                if objectId.hasSuffix(policy.lowercased()) {
                    return account
                }
            }
        }
        return nil
    }
}
