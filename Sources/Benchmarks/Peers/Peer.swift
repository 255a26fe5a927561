/// Another program that does some of the same work, where it is installed.
protocol Peer {
    static var name: String { get }
    var version: String { get }
}
