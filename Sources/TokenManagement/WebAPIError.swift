import HTTPTransport

/// Why the call of a web API did not succeed.
public enum WebAPIError: Error, Hashable, CustomStringConvertible {
    /// The API has no address or no scope.
    case notConfigured

    /// The address is no `https` URL, or is not the API's.
    case invalidURL(String)

    /// The API answered with another status than 200 to 299.
    case status(Int)

    /// The answer is not JSON.
    case notJSON

    public var description: String {
        switch self {
        case .notConfigured: "the API is not configured; give its address and at least one scope"
        case .invalidURL(let url): "'\(url)' is not an address of the API; correct it"
        case .status(let status): "the API answered \(status); see its documentation for what that means"
        case .notJSON: "the API answered with something other than JSON; check the address"
        }
    }
}
