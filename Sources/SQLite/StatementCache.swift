/// The prepared statements of a connection, by the address of a literal, or of the object of a text that was put together;
/// both stay where they are.
///
/// A dictionary would be slower: at its first use in a process the runtime looks at every conformance in the program,
/// which takes as long as several queries, and each lookup hashes the address with more care than is needed here.
struct StatementCache {
    /// A power of two of them, of which half at least hold 0 and are free.
    private var addresses = [UInt](repeating: 0, count: 64)
    private var statements = [Statement?](repeating: nil, count: 64)
    private var count = 0

    subscript(_ address: UnsafeRawPointer) -> Statement? { statements[place(of: UInt(bitPattern: address))] }

    /// Keeps the statement of an address that has none yet.
    mutating func insert(_ statement: Statement, at address: UnsafeRawPointer) {
        if count * 2 == addresses.count { grow() }
        put(statement, at: UInt(bitPattern: address))
        count += 1
    }

    mutating func removeAll() { self = StatementCache() }

    private mutating func grow() {
        let (oldAddresses, oldStatements) = (addresses, statements)
        addresses = Array(repeating: 0, count: oldAddresses.count * 2)
        statements = Array(repeating: nil, count: oldAddresses.count * 2)
        for (address, statement) in zip(oldAddresses, oldStatements) where address != 0 { put(statement, at: address) }
    }

    private mutating func put(_ statement: Statement?, at address: UInt) {
        let place = place(of: address)
        addresses[place] = address
        statements[place] = statement
    }

    /// Where an address is, or where it would be put.
    private func place(of address: UInt) -> Int {
        let mask = addresses.count - 1
        // The multiplication (Knuth's) spreads addresses that stand close together.
        var place = Int(truncatingIfNeeded: (UInt64(address) &* 0x9E37_79B9_7F4A_7C15) >> 40) & mask
        while addresses[place] != 0, addresses[place] != address { place = (place + 1) & mask }
        return place
    }
}
