/// Why no device can be connected by what an issuer answered.
public enum DeviceAuthorizationError: Error, Hashable, CustomStringConvertible {
    /// The answer is neither an authorization nor an OAuth error.
    case unusable(status: Int)

    /// A field is missing, or is not fit to be shown to anyone.
    case incomplete(String)

    public var description: String {
        switch self {
        case .unusable(let status):
            "the issuer answered the request for a device code with \(status) and no OAuth error; check the authority"
        case .incomplete(let field):
            "the issuer's answer to the request for a device code has no usable \(field); sign in with a browser"
        }
    }
}
