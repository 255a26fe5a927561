/// Something that a test needs is not there.
package struct ExpectationFailure: Error, CustomStringConvertible {
    package let description: String

    package init(_ what: String) { description = "missing: \(what)" }
}
