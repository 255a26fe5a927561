/// Something a test needed and did not get.
struct Missing: Error, CustomStringConvertible {
    let description: String

    init(_ what: String) { description = "missing: \(what)" }
}
