extension Unicode.Scalar {
    /// Whether a terminal or another reader would obey this scalar, or hide it, rather than show it.
    ///
    /// Such are control characters, marks that change the direction of writing, separators of lines, and what has no
    /// width. `previous` is the scalar before it: joiners belong to some writing systems and to emoji.
    package func isObeyed(after previous: Unicode.Scalar?) -> Bool {
        switch value {
        case 0..<0x20, 0x7F..<0xA0, 0xAD: return true
        case 0x20..<0x300: return false
        case 0x200C, 0x200D: return previous.map { $0.value < 0x300 } ?? true
        case 0xFE00...0xFE0F: return previous.map { !$0.properties.isEmoji } ?? true
        default: break
        }
        switch properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse: return true
        default: return properties.isDefaultIgnorableCodePoint
        }
    }
}

extension String {
    /// Calls `body` with each scalar, and whether it is better escaped than shown.
    package func forEachScalar(_ body: (Unicode.Scalar, _ isObeyed: Bool) -> Void) {
        var previous: Unicode.Scalar?
        for scalar in unicodeScalars {
            body(scalar, scalar.isObeyed(after: previous))
            previous = scalar
        }
    }
}

extension String {
    /// Whether it has characters that stand for no letter: one of them separates the parts of ``Account/ID/key``.
    package var hasControlCharacters: Bool {
        // All that Unicode calls so; to ask for the category of a scalar costs a hundred times as much.
        unicodeScalars.contains { $0.value < 0x20 || (0x7F..<0xA0).contains($0.value) }
    }
}
