import ArgumentParser

/// What an import reads and an export writes.
enum DocumentFormat: String, CaseIterable, ExpressibleByArgument {
    case msal
}
