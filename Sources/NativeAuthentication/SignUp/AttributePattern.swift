/// An issuer's pattern for an attribute, if matching it here takes little time and memory whatever the text.
///
/// The issuer judges every value itself. A pattern that nests, refers back, looks around, or can be matched in very
/// many ways could end the program or keep it busy for hours, and is left to the issuer.
struct AttributePattern {
    private static let longestPattern = 200
    private static let longestValue = 256
    private static let deepest = 4

    /// How many ways of matching may be tried, which takes a fraction of a second.
    private static let mostWays = 100_000

    /// With more of them, the time grows faster than the number of ways.
    private static let mostQuantifiers = 8

    private let text: String

    /// How many lengths each quantifier allows.
    private var choices: [Int] = []

    /// How many combinations of alternatives there are.
    private var alternatives = 1

    /// nil: it is not matched here.
    init?(_ text: String) {
        self.text = text
        guard text.utf8.count <= 2 * Self.longestPattern, text.unicodeScalars.count <= Self.longestPattern else {
            return nil
        }
        guard text.unicodeScalars.allSatisfy(Self.isPlain), readsAll() else { return nil }
    }

    /// Whether `value` matches as a whole; nil: that is not judged here.
    func matches(_ value: String) -> Bool? {
        guard value.utf8.count <= Self.longestValue, isCheap(for: value.utf8.count) else { return nil }
        guard let pattern = try? Regex(text) else { return nil }  // of another dialect
        return (try? pattern.wholeMatch(in: value)) != nil
    }

    private func isCheap(for length: Int) -> Bool {
        var ways = alternatives
        for choice in choices {
            ways *= min(choice, length + 1)
            guard ways <= Self.mostWays else { return false }
        }
        return ways <= Self.mostWays
    }

    /// ASCII and the letters of European languages: no marks that join what stands before them.
    private static func isPlain(_ scalar: Unicode.Scalar) -> Bool {
        (0x20...0x7E).contains(scalar.value) || (0xA1...0x24F).contains(scalar.value)
    }
}

extension AttributePattern {
    /// Reads the pattern from its beginning to its end; false: something in it is not matched here.
    private mutating func readsAll() -> Bool {
        var rest = text.unicodeScalars[...]
        // The bars of each group that is open, with those of the whole pattern first.
        var bars = [0]
        // Only a single character or a class may be repeated.
        var mayRepeat = false
        while let scalar = rest.popFirst() {
            switch scalar {
            case "(":
                guard bars.count <= Self.deepest, Self.beginsGroup(&rest) else { return false }
                bars.append(0)
                mayRepeat = false
            case ")":
                guard bars.count > 1, closes(bars.removeLast()) else { return false }
                mayRepeat = false
            case "|":
                bars[bars.count - 1] += 1
                mayRepeat = false
            case "^", "$": mayRepeat = false
            case "*", "+", "?", "{":
                guard mayRepeat, repeats(scalar, &rest) else { return false }
                mayRepeat = false
            case "[":
                guard Self.readsClass(&rest) else { return false }
                mayRepeat = true
            case "]", "}": return false
            case "\\":
                guard Self.readsEscape(&rest) else { return false }
                mayRepeat = true
            default: mayRepeat = true
            }
        }
        return bars.count == 1 && closes(bars[0])
    }

    /// Takes the alternatives of a group into account.
    private mutating func closes(_ bars: Int) -> Bool {
        alternatives *= bars + 1
        return alternatives <= Self.mostWays
    }

    private static func beginsGroup(_ rest: inout Substring.UnicodeScalarView) -> Bool {
        guard rest.first == "?" else { return rest.first != "*" }
        rest.removeFirst()
        return rest.popFirst() == ":"
    }

    /// The characters of a class behind its opening bracket; classes in classes, and their arithmetic, are not read.
    private static func readsClass(_ rest: inout Substring.UnicodeScalarView) -> Bool {
        if rest.first == "^" { rest.removeFirst() }
        var count = 0
        var last: Unicode.Scalar?
        while let scalar = rest.popFirst() {
            if scalar == "]" { return count > 0 }
            guard scalar != "[", scalar != "\\" || readsEscape(&rest) else { return false }
            guard scalar != last || !["&", "-", "~"].contains(scalar) else { return false }
            last = scalar
            count += 1
        }
        return false
    }

    /// What stands behind a backslash: a class such as `\d`, or a sign that stands for itself.
    private static func readsEscape(_ rest: inout Substring.UnicodeScalarView) -> Bool {
        guard let scalar = rest.popFirst(), scalar.isASCII else { return false }
        return ["d", "D", "w", "W", "s", "S"].contains(scalar) || !scalar.properties.isAlphabetic && !scalar.isDigit
    }

    private mutating func repeats(_ sign: Unicode.Scalar, _ rest: inout Substring.UnicodeScalarView) -> Bool {
        switch sign {
        case "?": choices.append(2)
        case "{":
            guard let end = rest.firstIndex(of: "}") else { return false }
            let bounds = rest[..<end].split(separator: ",", omittingEmptySubsequences: false).map { String($0) }
            rest = rest[rest.index(after: end)...]
            guard let choice = Self.choice(bounds) else { return false }
            choices.append(choice)
        default: choices.append(.max)
        }
        return choices.count <= Self.mostQuantifiers
    }

    /// How many lengths `{2,60}` allows; nil: that is not read.
    private static func choice(_ bounds: [String]) -> Int? {
        guard (1...2).contains(bounds.count), let least = count(bounds[0]) else { return nil }
        guard bounds.count == 2 else { return 1 }
        guard !bounds[1].isEmpty else { return .max }
        guard let most = count(bounds[1]), most >= least else { return nil }
        return most - least + 1
    }

    private static func count(_ text: String) -> Int? {
        guard (1...4).contains(text.utf8.count), text.unicodeScalars.allSatisfy(\.isDigit) else { return nil }
        return Int(text)
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { ("0"..."9").contains(self) }
}
