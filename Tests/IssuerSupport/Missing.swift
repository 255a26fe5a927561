/// Something that a test needs is not there.
package struct Missing: Error {
    package let what: String

    package init(_ what: String) { self.what = what }
}
