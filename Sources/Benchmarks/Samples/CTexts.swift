#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Texts as C wants them, made before the clock runs.
final class CTexts {
    let pointers: [UnsafePointer<CChar>?]

    init(_ texts: [String]) { pointers = texts.map { text in strdup(text).map { UnsafePointer($0) } } }

    /// What C takes for a list of texts: a null at its end.
    var vector: [UnsafeMutablePointer<CChar>?] { pointers.map { UnsafeMutablePointer(mutating: $0) } + [nil] }

    deinit {
        for pointer in pointers { free(UnsafeMutablePointer(mutating: pointer)) }
    }
}
