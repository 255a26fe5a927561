/// Whether a client shares refresh tokens with a family of clients.
enum AppFamily: Equatable {
    /// Nothing is known: the family's token is worth a try.
    case unknown
    case none
    case member(String)
}
