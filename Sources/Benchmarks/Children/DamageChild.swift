import ArgumentParser
import TokenStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Damages a store, its key or a document again and again, each time in a way that its number decides.
struct DamageChild: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "damage", shouldDisplay: false)

    @Argument var directory: String
    @Argument var first: Int
    @Argument var count: Int

    func run() throws {
        let subject = try DamageSubject(StorePath(directory + "/tokenstore.db"))
        for number in first..<first + count {
            // A hang ends the process with a signal that the parent knows.
            alarm(60)
            Findings.say("case \(number)")
            var damage = Damage(number)
            switch number % 4 {
            case 0, 1: try subject.tryDatabase(&damage)
            case 2: try subject.tryKey(&damage)
            default: try subject.tryDocument(&damage)
            }
        }
    }
}
