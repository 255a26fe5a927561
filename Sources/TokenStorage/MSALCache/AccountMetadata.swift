import Database
import OAuth

/// The member of a record that holds its accounts.
private let accountMap = "account_metadata_map"

/// MSAL's `AccountMetadataMap`: for each client its accounts, whether each is signed in, and which authorities stood
/// for which. It is kept as it came; what it says is also taken into `account_state` and `authority_map`, which go on
/// from there.
extension StoreConnection {
    static let accountMetadataBucket = "AccountMetadataMap"

    /// Reads the sign-in states and authority maps of a record: of all its accounts, or of those that this transaction
    /// has made alone, if it has been read before.
    ///
    /// `isOlder` says whether what the document has of an account and a client is older than what the store had: then
    /// the states of the store stay as well.
    ///
    /// - Returns: the rows of the accounts of which something is another now.
    func saveAccountMetadata(
        _ record: JSONValue,
        ofNewAccountsAlone isKnown: Bool = false,
        isOlder: (_ account: Int64, _ client: String) -> Bool = { _, _ in false }
    ) throws -> Set<Int64> {
        var changed: Set<Int64> = []
        for (homeAccountID, item) in record.object?[accountMap]?.object?.members ?? [] {
            // Folded, as names are compared, they may be longer.
            guard let item = item.object, let client = Self.client(of: item, in: record), client.folded.keyFlaw == nil
            else { continue }
            let accounts = try accounts(called: homeAccountID).filter {
                (!isKnown || newAccounts.contains($0.row)) && !isOlder($0.row, client)
            }
            if let state = item["sign_in_state"]?.text.flatMap(SignInState.init(stored:)), state != .unknown {
                for account in accounts where try setSignInState(state, of: account.row, client: client) {
                    changed.insert(account.row)
                }
            }
            // The name really is misspelled in every release of MSAL.
            for (_, map) in item["athority_map"]?.object?.members ?? [] {
                for (requested, resolved) in map.object?.members ?? [] {
                    guard let resolved = resolved.text, requested.folded.keyFlaw == nil else { continue }
                    for account in accounts
                    where try saveAuthority(resolved, for: requested, account: account.row, client: client) {
                        changed.insert(account.row)
                    }
                }
            }
        }
        return changed
    }

    /// A record with the sign-in states of now, for accounts that are in the store.
    func currentAccountMetadata(_ record: JSONValue) throws -> JSONValue {
        guard var object = record.object, let items = object[accountMap]?.object else { return record }
        let members = try items.members.map { homeAccountID, value in
            guard var item = value.object, let client = Self.client(of: item, in: record) else {
                return (homeAccountID, value)
            }
            let states = try accounts(called: homeAccountID).map { try signInState(of: $0.id, client: client) }
            // Who is signed in anywhere is signed in. A sign-out that was taken back leaves no state.
            guard let state = [SignInState.signedIn, .signedOut, .unknown].first(where: states.contains),
                state != .unknown || item["sign_in_state"]?.text == SignInState.signedOut.stored
            else { return (homeAccountID, value) }
            item["sign_in_state"] = .string(state.stored)
            return (homeAccountID, .object(item))
        }
        object[accountMap] = .object(JSONValue.Object(members))
        return .object(object)
    }

    private static func client(of item: JSONValue.Object, in record: JSONValue) -> String? {
        (item["client_id"] ?? record.object?["client_id"])?.text
    }
}

extension JSONValue {
    /// A record of account metadata without the accounts that `isForgotten` tells by their id; nil if none is left.
    func removingAccountMetadata(where isForgotten: (String) -> Bool) -> JSONValue? {
        guard var object, let items = object[accountMap]?.object else { return self }
        let kept = items.members.filter { !isForgotten($0.name) }
        guard kept.count < items.members.count else { return self }
        object[accountMap] = .object(JSONValue.Object(kept))
        if let principal = object["principal_home_account_id"]?.text, isForgotten(principal) {
            for field in ["home_account_id", "username", "account_environment"] { object["principal_\(field)"] = nil }
        }
        return kept.isEmpty ? nil : .object(object)
    }
}
