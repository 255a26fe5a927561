import SQLite

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

extension Row {
    /// A column of Unix seconds.
    func date(_ column: CInt) -> Date { Date(timeIntervalSince1970: Double(integer(column))) }

    func optionalDate(_ column: CInt) -> Date? { isNull(column) ? nil : date(column) }
}
