public import Foundation

/// The folder of the package, for tests that read its documents and fixtures.
public enum Repository {
    public static let root = URL(filePath: #filePath).appending(path: "../../..").standardized
}
