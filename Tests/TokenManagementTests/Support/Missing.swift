/// Something that a test needs is not there.
struct Missing: Error {
    let what: String

    init(_ what: String) { self.what = what }
}
