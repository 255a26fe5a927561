import OAuth

/// An address of this machine that leads the person's browser to the issuer's page.
///
/// Every user of the machine can read the arguments of a program. The page's own address holds `state`, `nonce` and the
/// challenge of the proof key: who reads it can sign in as himself and bring that answer here, and the person works in
/// a stranger's account without knowing. This address says nothing, and only programs of this user are led on.
///
/// Where the system does not say whose a connection is, it is good for one request. The second one is then another
/// user's or the browser's after him, so the sign-in is called off.
package final class StartAddress: Sendable {
    enum Answer: Equatable {
        case leads(to: String)

        /// Nothing is said to this program.
        case nothing

        /// It was used before, by an unknown program.
        case usedUp
    }

    /// 256 random bits.
    package let path = "/" + Secret.random().reveal()
    private let page = Guarded<String?>(nil)
    private let isUsed = Guarded(false)

    package init() {}

    /// Makes `address` the page.
    package func lead(to address: String) { page.withLock { $0 = address } }

    func answer(to owner: ConnectionOwner) -> Answer {
        guard let page = page.withLock(\.self), owner != .anotherUser else { return .nothing }
        let isFirst = isUsed.withLock { isUsed in
            // Once an unknown program was led on, each further request may be the browser that came second.
            defer { if owner == .unknown { isUsed = true } }
            return !isUsed
        }
        return isFirst ? .leads(to: page) : .usedUp
    }
}
