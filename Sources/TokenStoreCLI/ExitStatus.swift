/// Why a command ended without having done its work; the raw value is the error code that scripts see.
enum ExitStatus: String {
    case failure
    case noMatch = "no_match"
    case ambiguous
    case interactionRequired = "interaction_required"
    case storeBusy = "store_busy"
    case storeDamaged = "store_damaged"
    case keyUnavailable = "key_unavailable"
    case network
    case cancelled
    case newerStore = "newer_store"
    case usage

    /// The exit status of the process.
    var code: Int32 {
        switch self {
        case .failure: 1
        case .noMatch, .ambiguous: 3
        case .interactionRequired: 4
        case .storeBusy: 5
        case .storeDamaged: 6
        case .keyUnavailable: 7
        case .network: 8
        case .cancelled: 9
        case .newerStore: 10
        case .usage: 64
        }
    }
}
