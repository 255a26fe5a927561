// The code of a guide to MSAL, letter by letter; what the guide leaves to the app is marked as the app's own.
// swift-format-ignore-file

import Foundation
import MSAL

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Tokens for two web APIs, before they are configured.
@MainActor
public func webAPIs(_ app: MSALNativeAuthPublicClientApplication) -> Screen { ViewController(app) }

/// The same, with the address and the scopes of each.
@MainActor
public func webAPIs(_ app: MSALNativeAuthPublicClientApplication, _ apis: [(url: String, scopes: [String])]) -> Screen {
    let screen = ViewController(app)
    (screen.protectedAPIUrl1, screen.protectedAPIScopes1) = apis[0]
    (screen.protectedAPIUrl2, screen.protectedAPIScopes2) = apis[1]
    return screen
}

private struct Declarations {
    let protectedAPIUrl1: String? = nil
    let protectedAPIUrl2: String? = nil
    let protectedAPIScopes1: [String] = []
    let protectedAPIScopes2: [String] = []
    var accessTokenAPI1: String?
    var accessTokenAPI2: String?
}

private final class ViewController: Screen {
    var protectedAPIUrl1 = Declarations().protectedAPIUrl1
    var protectedAPIUrl2 = Declarations().protectedAPIUrl2
    var protectedAPIScopes1 = Declarations().protectedAPIScopes1
    var protectedAPIScopes2 = Declarations().protectedAPIScopes2
    var accessTokenAPI1 = Declarations().accessTokenAPI1
    var accessTokenAPI2 = Declarations().accessTokenAPI2
    var accountResult: MSALNativeAuthUserAccountResult?

@IBAction func signInPressed(_: Any) {
guard let email = emailTextField.text, let password = passwordTextField.text else {
resultTextView.text = "Email or password not set"
return
}
print("Signing in with email \(email) and password")
showResultText("Signing in...")
nativeAuth.signIn(username: email, password: password, delegate: self)
}

@IBAction func protectedApi1Pressed(_: Any) {
guard let url = protectedAPIUrl1, !protectedAPIScopes1.isEmpty else {
showResultText("API 1 not configured.")
return
}
if let accessToken = accessTokenAPI1 {
accessProtectedAPI(apiUrl: url, accessToken: accessToken)
} else {
accountResult?.getAccessToken(scopes: protectedAPIScopes1, delegate: self)
let message = "Retrieving access token to use with API 1..."
showResultText(message)
print(message)
}
}

@IBAction func protectedApi2Pressed(_: Any) {
guard let url = protectedAPIUrl2, !protectedAPIScopes2.isEmpty else {
showResultText("API 2 not configured.")
return
}
if let accessToken = accessTokenAPI2 {
accessProtectedAPI(apiUrl: url, accessToken: accessToken)
} else {
accountResult?.getAccessToken(scopes: protectedAPIScopes2, delegate: self)
let message = "Retrieving access token to use with API 2..."
showResultText(message)
print(message)
}
}

func accessProtectedAPI(apiUrl: String, accessToken: String) {
guard let url = URL(string: apiUrl) else {
let errorMessage = "Invalid API url"
print(errorMessage)
DispatchQueue.main.async {
self.showResultText(errorMessage)
}
return
}
var request = URLRequest(url: url)
request.httpMethod = "GET"
request.setValue("Bearer \(accessToken)", forHTTPHeaderField: "Authorization")
let task = URLSession.shared.dataTask(with: request) { data, response, error in
if let error = error {
print("Error found when accessing API: \(error.localizedDescription)")
DispatchQueue.main.async {
self.showResultText(error.localizedDescription)
}
return
}
guard let httpResponse = response as? HTTPURLResponse, (200...299).contains(httpResponse.statusCode)
else {
DispatchQueue.main.async {
self.showResultText("Unsuccessful response found when accessing the API")
}
return
}
guard let data = data, let result = try? JSONSerialization.jsonObject(with: data, options: []) else {
DispatchQueue.main.async {
self.showResultText("Couldn't deserialize result JSON")
}
return
}
DispatchQueue.main.async {
self.showResultText("""
Accessed API successfully using access token.
HTTP response code: \(httpResponse.statusCode)
HTTP response body: \(result)
""")
}
}
task.resume()
}

    override func press(_ button: String) {
        switch button {
        case "signIn": signInPressed(button)
        case "api1": protectedApi1Pressed(button)
        default: protectedApi2Pressed(button)
        }
    }
}

extension ViewController: SignInStartDelegate {
    func onSignInStartError(error: MSAL.SignInStartError) { showResultText(error.errorDescription ?? "") }

    func onSignInCompleted(result: MSALNativeAuthUserAccountResult) {
        accountResult = result
        showResultText("Signed in successfully")
    }
}

extension ViewController: CredentialsDelegate {
func onAccessTokenRetrieveCompleted(result: MSALNativeAuthTokenResult) {
print("Access Token: \(result.accessToken)")
if protectedAPIScopes1.allSatisfy(result.scopes.contains), let url = protectedAPIUrl1 {
accessTokenAPI1 = result.accessToken
accessProtectedAPI(apiUrl: url, accessToken: result.accessToken)
}
if protectedAPIScopes2.allSatisfy(result.scopes.contains(_:)), let url = protectedAPIUrl2 {
accessTokenAPI2 = result.accessToken
accessProtectedAPI(apiUrl: url, accessToken: result.accessToken)
}
showResultText("Signed in." + "\n\n" + "Scopes:\n\(result.scopes)" + "\n\n" + "Access Token:\n\(result.accessToken)")
updateUI()
}
func onAccessTokenRetrieveError(error: MSAL.RetrieveAccessTokenError) {
showResultText("Error retrieving access token: \(error.errorDescription ?? "No error description")")
}
}
