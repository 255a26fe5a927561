import Database
import OAuth

extension Remedy {
    private static let unicode = "CREATE DATABASE NAME ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0"

    /// Names of people have letters that other encodings lack.
    static let unicodeDatabase = Remedy(.install, "have one made with \(unicode), and name that")

    /// Of a database with a store in it, which was restored there.
    static let restoreInUnicode = Remedy(.restore, "restore a dump of it in one made with \(unicode), and name that")

    /// How long a connection may take is for the address to say, which may name other hosts.
    static let allowMoreTimeToConnect = Remedy(
        .retry,
        "try again later, or add connect_timeout=SECONDS to the address"
    )

    /// Programs may not make the data keys of a server.
    static let newDataKey = Remedy(
        .makeKey,
        "restore the database, or delete what is left and have the owner of the tables make a new key"
    )

    /// A server's tables are not salvaged row by row.
    static let restoreDatabase = Remedy(.restore, "restore the database to a moment before the damage")
}

extension TokenStoreError {
    func at(_ location: StoreLocation) -> TokenStoreError {
        var error = self
        error.path = location.description
        if location.path == nil, remedy?.code == .repair { error.remedy = .restoreDatabase }
        return error
    }

    init(_ error: PostgreSQLError, at location: StoreLocation) {
        self = TokenStoreError(error, on: location).at(location)
        mayHaveHappened = error.code == .notReplicated
    }

    /// A database of the `encoding` lacks letters of texts, or gives some of them back as others.
    static func unfitEncoding(_ encoding: String, at location: StoreLocation, _ remedy: Remedy) -> TokenStoreError {
        unsupported(
            "the database of \(location) has the encoding \(encoding), and letters of people's names need UTF8",
            remedy
        ).at(location)
    }

    /// What ended the wait for the end of a transaction whose commit may have happened.
    init(unsettled error: PostgreSQLError, at location: StoreLocation) {
        let known = TokenStoreError(error, at: location)
        let problem = known.problemWithoutOutcome
        self.init(known.code, "\(problem), and it is not known whether what was written is there", known.remedy)
        path = known.path
        mayHaveHappened = true
    }

    /// What is said of a standby to who only reads.
    init(onlyReadable error: PostgreSQLError, at location: StoreLocation) {
        self.init(
            .unreachable,
            "\(location) cannot be written to now (\(error.message))",
            Remedy(.retry, "try again later, or add target_session_attrs=any to the address to read it all the same")
        )
        path = location.description
    }

    /// A standby takes over what its primary does, also where that conflicts with what is read.
    static func givenUp(at location: StoreLocation) -> TokenStoreError {
        busy(
            "a standby of \(location) had to give up what was being read there",
            Remedy(.retry, "try again, or name the primary in the address")
        ).at(location)
    }

    /// The problem without its promise that nothing was changed, for what says something else of that.
    var problemWithoutOutcome: String {
        problem.replacing(", and nothing was changed", with: "").replacing(", nothing was changed", with: "")
    }

    /// Runs what commits in several steps: where one has, an error says so, and promises nothing of the last step alone.
    static func inSteps<Result>(_ body: (_ done: inout String?) throws -> Result) throws -> Result {
        var done: String?
        do {
            return try body(&done)
        } catch var error as TokenStoreError {
            if let done { error.problem = "\(error.problemWithoutOutcome), and \(done)" }
            throw error
        }
    }

    private static func access(_ problem: String, _ advice: String) -> TokenStoreError {
        TokenStoreError(.access, problem, Remedy(.checkPermissions, advice))
    }

    private init(_ error: PostgreSQLError, on location: StoreLocation) {
        let problem = "\(location): \(error.message)"
        self =
            switch error.code {
            case .certificate, .noEncryption, .passwordFile, .invalidPassword, .invalidAuthorization, .unknownDatabase,
                .permission, .undefinedObject:
                .refused(error, by: location, problem)
            case .duplicateStatement, .unknownStatement, .statementPooler: .unfitPooler(error, at: location)
            case .readOnlyTransaction, .wrongKindOfServer: .wrongServer(error, at: location)
            case .timedOut, .lockNotAvailable, .poolExhausted:
                .busy("\(location) does not answer in time (\(error.message))", .allowMoreTime)
            case .notConnected:
                .busy("\(location) does not answer in time (\(error.message))", .allowMoreTimeToConnect)
            case .setting:
                .invalidArgument(
                    problem,
                    .correct(
                        "correct that setting in the address, in the environment (as PGTZ or PGOPTIONS) or of the role"
                    )
                )
            case .characterNotInRepertoire:
                .invalidArgument("a text has a NUL character, and no store takes it", .correct("leave it out"))
            case .untranslatableCharacter:
                .unsupported("the database of \(location) lacks a letter, as it is not in UTF8", .restoreInUnicode)
            case .brokenText:
                .damaged("a text at \(location) is not in the encoding of its database", .restoreDatabase)
            case .address: .invalidArgument(error.message, .correct("correct the address"))
            case .unsupported: .unsupported(problem, Remedy(.install, "install what is missing"))
            case .undefinedTable, .undefinedColumn:
                .damaged("the tables at \(location) are not as they were made (\(error.message))", .restoreDatabase)
            case .diskFull:
                .storage("the disk of \(location) is full, and nothing was changed", .freeSpace)
            case .notReplicated:
                .storage("a standby may not have what was written to \(location)", Remedy(.retry, "check the standby"))
            case .limitExceeded:
                .storage(
                    "\(problem), and nothing was changed",
                    Remedy(.askOperator, "have that limit of the role raised")
                )
            case .referredTo:
                .access(
                    "\(location): a row cannot be deleted, and nothing was changed, as \(error.message)",
                    "have that constraint dropped"
                )
            case _ where error.isPassing: TokenStoreError(.unreachable, problem, .retryLater)
            case _ where error.isCollision: .busy("others change the same rows of \(location)", .retry)
            default:
                .storage(
                    "\(location) failed, and nothing was changed (\(error.message), code \(error.code.rawValue))",
                    .retryLater
                )
            }
    }

    /// The server, or the way to it, does not let this program or its role in.
    private static func refused(
        _ error: PostgreSQLError,
        by location: StoreLocation,
        _ problem: String
    ) -> TokenStoreError {
        switch error.code {
        case .certificate where error.message.contains("could not load private key file"):
            access(problem, "correct sslkey, or give its passphrase as sslpassword")
        case .certificate where error.message.contains("private key file"):
            access(problem, "correct sslkey, or have the file readable by its owner alone (chmod 600)")
        case .certificate:
            access(problem, "correct the host or sslrootcert, or have the certificate renewed")
        case .noEncryption:
            access(problem, "have TLS switched on there, or correct the host or sslmode")
        case .passwordFile:
            TokenStoreError(
                .access,
                problem,
                location.address?.passwordFile.map { .restrictAccess(to: $0, mode: "600") }
                    ?? Remedy(.checkPermissions, "see that its owner alone may use it")
            )
        case .undefinedObject:
            access(problem, "have it made there, in a Citus cluster in this database, which tells its machines")
        default: access(problem, "check the address, the role and its rights")
        }
    }

    /// A pooler before the server mixes the sessions of its clients.
    private static func unfitPooler(_ error: PostgreSQLError, at location: StoreLocation) -> TokenStoreError {
        guard error.code == .statementPooler else {
            return .invalidArgument(
                "\(location) is behind a pooler that shares sessions, it seems (\(error.message))",
                .correct("add pooler=transaction to the address, and have the pooler close its sessions once")
            )
        }
        return .invalidArgument(
            "\(location) is behind a pooler that allows no transactions (\(error.message))",
            .correct("set pool_mode = transaction for the database in the pooler")
        )
    }

    /// The server is a standby where a primary is needed, or the other way round.
    private static func wrongServer(_ error: PostgreSQLError, at location: StoreLocation) -> TokenStoreError {
        switch error.code {
        case .wrongKindOfServer where error.message.contains("is not "):
            TokenStoreError(
                .unreachable,
                "no server of \(location) is a standby now (\(error.message))",
                .correct("correct target_session_attrs in the address, or try again later")
            )
        case .readOnlyTransaction where location.address?.isOnlyRead == true:
            TokenStoreError(
                .unreachable,
                "\(location) asks for a server that is only read (\(error.message))",
                .correct("write target_session_attrs=read-write or prefer-standby into the address")
            )
        default:
            TokenStoreError(
                .unreachable,
                "\(location) cannot be written to now (\(error.message))",
                Remedy(.retry, "try again later, or have default_transaction_read_only off if it is no standby")
            )
        }
    }
}

extension TokenStoreError {
    static func noStore(at location: StoreLocation) -> TokenStoreError {
        TokenStoreError(
            .noStore,
            "\(location) has no token store",
            location.path == nil
                ? Remedy(.initialize, "make one with a role that may create tables, or correct the address")
                : .choosePath
        ).at(location)
    }

    static func foreignTables(in schema: String, at location: StoreLocation) -> TokenStoreError {
        damaged(
            "the schema \(schema) at \(location) has tables of another program, and is not a token store",
            .correct("name another schema")
        ).at(location)
    }
}

extension PostgreSQLError {
    /// Whether another transaction was in the way: the same from its start may succeed.
    ///
    /// A row that another was to belong to may have been deleted since it was found.
    var isCollision: Bool { code.isRetryable || code == .uniqueViolation || code == .foreignKeyViolation }

    /// Whether the server may be had again in a moment: it restarts, another takes its place, it is busy or in trouble.
    ///
    /// One whose disk is full is not waited for here, as a person has to make room.
    var isPassing: Bool {
        guard code != .statementPooler else { return false }
        let isShort = ["08", "53", "57", "58"].contains(code.category) && !Self.lasting.contains(code)
        return state != .usable || isShort || Self.passing.contains(code)
    }

    /// Whether a server has answered that it is full, starts or ends its sessions, so that its address is not wrong.
    var isOfBusyServer: Bool { Self.ofBusyServer.contains(code) }

    private static let ofBusyServer: Set<Code> = [
        .tooManyConnections, .cannotConnectNow, .adminShutdown, .crashShutdown,
    ]

    private static let lasting: Set<Code> = [.diskFull, .protocolViolation, .limitExceeded]

    private static let passing: Set<Code> = [
        .connectionLost, .unreachable, .notConnected, .timedOut, .cannotConnectNow, .readOnlyTransaction,
        .wrongKindOfServer, .tooManyConnections, .poolExhausted, .lockNotAvailable,
    ]
}
