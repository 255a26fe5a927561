/// What is wrong with an ID token.
public enum IDTokenFlaw: String, Error, Hashable, CustomStringConvertible {
    case unreadable
    case unknownKey
    case signature
    case issuer
    case audience
    case time
    case nonce
    case subject

    public var description: String {
        let flaw =
            switch self {
            case .unreadable: "cannot be read"
            case .unknownKey: "is signed with a key that the issuer does not publish"
            case .signature: "has a signature that is not the issuer's"
            case .issuer: "names another issuer"
            case .audience: "is for another client"
            case .time: "is not valid now"
            case .nonce: "answers another request"
            case .subject: "names another user"
            }
        return "the issuer's ID token \(flaw); check the authority and this machine's clock, then sign in again"
    }
}
