import OAuth
import Sealing
import SignIn
import TokenManagement
import TokenStorage

/// An error as a person reads it: what happened, and what to do.
struct CommandFailure: Error {
    let status: ExitStatus
    let message: String
    let hint: String?

    /// The first of the accounts of which one has to be named, and how many there are.
    let candidates: [Account]
    let candidateCount: Int

    init(
        _ status: ExitStatus,
        _ message: String,
        _ hint: String?,
        candidates: [Account] = [],
        of candidateCount: Int? = nil
    ) {
        self.status = status
        // What an issuer or a file put into it may be of any length.
        self.message = message.bounded
        self.hint = hint?.bounded
        self.candidates = candidates
        self.candidateCount = candidateCount ?? candidates.count
    }

    /// Takes apart a sentence such as `the store is damaged; run 'tokenstore check'`.
    init(_ status: ExitStatus, sentence: String) {
        guard let semicolon = sentence.lastSemicolon else {
            self.init(status, sentence, nil)
            return
        }
        self.init(status, String(sentence[..<semicolon.lowerBound]), String(sentence[semicolon.upperBound...]))
    }

    init(_ error: any Error) {
        switch error {
        case let failure as CommandFailure: self = failure
        case let error as TokenStoreError: self.init(error)
        case let error as AcquisitionError: self.init(error)
        case let error as SignInError: self.init(error)
        case let refusal as any NativeRefusal: self.init(refusal)
        case let error as SealingError: self.init(TokenStoreError.key(error))
        default: self.init(.failure, sentence: String(describing: error))
        }
    }

    private init(_ error: TokenStoreError) {
        let status: ExitStatus =
            switch error.kind {
            case .failure: .failure
            case .selection: .ambiguous
            case .busy: .storeBusy
            case .damaged: .storeDamaged
            case .keyUnavailable: .keyUnavailable
            case .newerStore: .newerStore
            }
        guard case .ambiguousAccount(let accounts, let total) = error else {
            self.init(status, sentence: error.description)
            return
        }
        self.init(ambiguous: accounts, of: total)
    }
}

extension String {
    fileprivate var lastSemicolon: Range<String.Index>? {
        guard let end = ranges(of: "; ").last else { return nil }
        return end
    }
}
