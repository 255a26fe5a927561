import TokenStorage

extension StoreReading {
    /// Requires, where no account was found, that none is missing because a copy has not brought it.
    func requireFilled() throws {
        if try isFillingFromCopy() { throw CommandFailure(TokenStoreError.filling(location)) }
    }
}

extension Console {
    /// Says that accounts may be missing in a store that a copy has not filled.
    func warnOfUnfinishedCopy(to location: StoreLocation) {
        warn(CommandFailure(TokenStoreError.filling(location)).sentence)
    }
}

extension StoreInspection {
    /// Says the same where it is so.
    ///
    /// - Returns: whether it is. To be asked before the accounts are read, as the copy may end meanwhile.
    @discardableResult
    func tellUnfinishedCopy(_ console: Console) throws -> Bool {
        guard try isFillingFromCopy() else { return false }
        console.warnOfUnfinishedCopy(to: location)
        return true
    }
}
