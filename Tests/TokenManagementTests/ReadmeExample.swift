import HTTPTransport
import OAuth
import TokenManagement
import TokenStorage

func tasks(of account: Account, in store: TokenStore) async throws -> JSON {
    let transport = AsyncHTTPTransport()
    let manager = TokenManager(store: store, clientID: "my-app", transport: transport)
    let api = WebAPI(url: "https://api.example.com/tasks", scope: "api://todo/Read")
    let caller = AuthorizedTransport(api, account: account.id, manager: manager, transport: transport)
    return try await caller.json(HTTPRequest("GET", api.url))  // never asks a person: AcquisitionError says when to
}
