import Database

/// The pages that hold the schema of a database, without the first one, which does no more than name the others.
///
/// They say where each table begins. A file that was written anew at an older version, or that took steps when it had
/// rows, has its tables on pages of its own, which no new store shows.
struct SchemaPages {
    private let pages: [Leaf]

    /// How many of them a first page has room to name, and more than any schema needs.
    private static let most = 128

    /// The ones in `file`, which may have no first page and needs to have no log; nil where there are none, or where
    /// older ones are left beside them.
    init?(in file: Connection, pageSize: Int) {
        var pages: [Leaf] = []
        var offset = pageSize
        while let bytes = file.bytes(at: Int64(offset), count: pageSize), bytes.count == pageSize {
            offset += pageSize
            if let leaf = Leaf(bytes, number: UInt32(truncatingIfNeeded: offset / pageSize)) { pages.append(leaf) }
        }
        pages.sort { $0.first < $1.first }
        let areApart = zip(pages, pages.dropFirst()).allSatisfy { $0.last < $1.first }
        guard areApart, (1...Self.most).contains(pages.count) else { return nil }
        self.pages = pages
    }

    /// A first page that names these, under the header of `first`.
    func firstPage(like first: [UInt8]) -> [UInt8] {
        var page = Array(first.prefix(Self.headerSize))
        page += repeatElement(0, count: first.count - page.count)
        var end = page.count
        for (index, leaf) in pages.dropLast().enumerated() {
            end -= leaf.cell.count
            page.replaceSubrange(end..<end + leaf.cell.count, with: leaf.cell)
            let place = Self.headerSize + 12 + 2 * index
            page.replaceSubrange(place..<place + 2, with: Self.bytes(of: UInt16(truncatingIfNeeded: end)))
        }
        page[Self.headerSize] = 0x05
        let numbers = Self.bytes(of: UInt16(pages.count - 1)) + Self.bytes(of: UInt16(truncatingIfNeeded: end))
        page.replaceSubrange(Self.headerSize + 3..<Self.headerSize + 7, with: numbers)
        let last = pages.last?.number ?? 0
        page.replaceSubrange(Self.headerSize + 8..<Self.headerSize + 12, with: Self.bytes(of: last))
        return page
    }

    /// A first page under the header of `first` that names nothing: with it a log can be folded into the file.
    static func emptyPage(like first: [UInt8]) -> [UInt8] {
        var page = Array(first.prefix(headerSize))
        page += repeatElement(0, count: first.count - page.count)
        page[headerSize] = Leaf.kind
        page.replaceSubrange(headerSize + 5..<headerSize + 7, with: bytes(of: UInt16(truncatingIfNeeded: page.count)))
        return page
    }

    /// The header of the file, before what is on the first page itself.
    private static let headerSize = 100

    private static func bytes(of number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }

    /// A page of rows of the schema.
    private struct Leaf {
        /// How a page of rows begins.
        static let kind: UInt8 = 0x0D

        let number: UInt32

        /// The first and the last row on the page.
        let first: UInt64
        let last: UInt64

        /// nil where the page holds anything else.
        init?(_ page: [UInt8], number: UInt32) {
            guard page[0] == Self.kind else { return nil }
            let count = Int(page[3]) << 8 | Int(page[4])
            guard count > 0, 8 + 2 * count <= page.count else { return nil }
            var rows: [UInt64] = []
            for index in 0..<count {
                let start = Int(page[8 + 2 * index]) << 8 | Int(page[9 + 2 * index])
                guard start < page.count, let row = Self.row(ofObjectIn: page[start...]) else { return nil }
                rows.append(row)
            }
            self.number = number
            first = rows.min() ?? 0
            last = rows.max() ?? 0
        }

        /// How the page above names this one.
        var cell: [UInt8] {
            var digits = [UInt8(last & 0x7F)]
            var rest = last >> 7
            while rest > 0 {
                digits.append(UInt8(rest & 0x7F) | 0x80)
                rest >>= 7
            }
            return SchemaPages.bytes(of: number) + digits.reversed()
        }

        /// The id of a row that begins as one of the schema does: with "table" or "index", the first of five columns.
        private static func row(ofObjectIn cell: ArraySlice<UInt8>) -> UInt64? {
            var rest = cell
            // No database has so many objects that an id is larger.
            guard number(&rest) != nil, let row = number(&rest), row <= UInt64(UInt32.max) else { return nil }
            let record = rest
            guard let size = number(&rest), size < 64 else { return nil }
            let values = record.dropFirst(Int(size))
            var types: [UInt64] = []
            while rest.startIndex < values.startIndex, let type = number(&rest) { types.append(type) }
            let textOfFive: UInt64 = 13 + 2 * 5
            guard types.count == 5, types[0] == textOfFive else { return nil }
            let kind = String(decoding: values.prefix(5), as: UTF8.self)
            return kind == "table" || kind == "index" ? row : nil
        }

        /// Takes a number of one to nine bytes off the front; nil where it does not end.
        private static func number(_ bytes: inout ArraySlice<UInt8>) -> UInt64? {
            var value: UInt64 = 0
            for (index, byte) in bytes.prefix(9).enumerated() {
                if index == 8 || byte & 0x80 == 0 {
                    bytes = bytes.dropFirst(index + 1)
                    return index == 8 ? value << 8 | UInt64(byte) : value << 7 | UInt64(byte)
                }
                value = value << 7 | UInt64(byte & 0x7F)
            }
            return nil
        }
    }
}
