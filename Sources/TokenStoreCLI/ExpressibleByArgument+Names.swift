public import ArgumentParser

// What the parser finds out by itself, through key paths and generic collections, at a tenth of the cost: it asks for
// all of it in every run.
extension ExpressibleByArgument where Self: CaseIterable & RawRepresentable, RawValue == String {
    public static var allValueStrings: [String] {
        var names: [String] = []
        for value in allCases { names.append(value.rawValue) }
        return names
    }

    /// None has a description besides its name.
    public static var allValueDescriptions: [String: String] { [:] }

    public var defaultValueDescription: String { rawValue }
}
