#if os(Linux)
/// A `GCancellable`, which any thread may use to stop what another one waits for.
///
/// `@unchecked Sendable`: both fields are set once, and GLib lets every thread call every function of a `GCancellable`.
final class Cancellation: @unchecked Sendable {
    let object: LibSecret.Object?
    private let library: LibSecret

    init(_ library: LibSecret) {
        self.library = library
        object = library.glib.newCancellable()
    }

    func cancel() {
        if let object { library.glib.cancel(object) }
    }

    deinit {
        if let object { library.glib.unref(object) }
    }
}
#endif
