/// The inputs that are fuzzed, under the names of their folders in `Tests/FuzzingTests/Corpus`.
package enum InputKind: String, CaseIterable, Sendable {
    case arguments = "Arguments"
    case database = "Database"
    case discovery = "Discovery"
    case idToken = "IDToken"
    case msalCache = "MSALCache"
    case redirect = "Redirect"
    case tokenResponse = "TokenResponse"

    package func input() throws -> any FuzzInput {
        switch self {
        case .arguments: ArgumentsInput()
        case .database: try DatabaseInput()
        case .discovery: try DiscoveryInput()
        case .idToken: try IDTokenInput()
        case .msalCache: try MSALCacheInput()
        case .redirect: RedirectInput()
        case .tokenResponse: try TokenResponseInput()
        }
    }
}
