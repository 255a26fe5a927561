/// Whether an account is signed in to a client.
public enum SignInState: String, Sendable {
    case signedIn
    case signedOut
    case unknown

    /// The word that MSAL's account metadata uses.
    var stored: String {
        switch self {
        case .signedIn: "signed_in"
        case .signedOut: "signed_out"
        case .unknown: "unknown"
        }
    }

    init?(stored: String) {
        switch stored {
        case "signed_in": self = .signedIn
        case "signed_out": self = .signedOut
        case "unknown": self = .unknown
        default: return nil
        }
    }
}
