import OAuth
import TestTraits
import Testing
import TokenManagement
import TokenStorage

@testable import TokenStoreCLI

/// What the command line makes of a library's remedy.
@Suite(.onWaitingThreads)
struct RemedyCommandsTests {
    @Test(
        arguments: [
            (.repair, "run 'tokenstore check --repair' to salvage what is there"),
            (.check, "run 'tokenstore check'"),
            (.restore, "restore a copy"),
            (.startAnew, "restore a copy, or start anew with 'tokenstore purge --all', which deletes the rest"),
            (.choosePath, "name the store with --store"),
            (.choosePath("/a b"), "name the file itself: --store '/a b'"),
            (
                .setAside("/nowhere/a.db"),
                "name the store with --store, or, if this was it, move it away with 'mv /nowhere/a.db "
                    + "/nowhere/a.db.aside' and restore a backup with 'tokenstore restore FILE'"
            ),
            (
                .moveStore("keep it on a local disk"),
                "keep it on a local disk, and name that with --store or TOKENSTORE_PATH"
            ),
            (.undoMove(of: "/d"), "if nobody moved it, take that back with 'tokenstore copy --undo /d'"),
            (
                Remedy(.openForWriting, "open it"),
                "run 'tokenstore migrate', which brings it up to date"
            ),
            (
                Remedy(.purge, "empty the log"),
                "run 'tokenstore purge' when it is done, which also deletes expired access tokens"
            ),
            (.retry, "try again"),
            (.retry(after: .seconds(7)), "try again in 7 s"),
            (.allowMoreTime, "try again later or raise --timeout"),
            (.update(to: "9.1"), "install version 9.1 or newer"),
            (.restrictAccess(to: "/it's a key", mode: "600"), #"run 'chmod 600 '/it'\''s a key''"#),
            (.takeOwnership(of: "/key", user: 7), "run as that user, or 'chown 7 /key'"),
            (.createDirectory("/d"), "create it with 'mkdir -p -m 700 /d'"),
            (.changeKey("name its place"), "name its place with --key"),
            (.changeKey("choose another key source", to: "file"), "choose another key source, such as --key file"),
            (.provideKey("set it"), "set it"),
            (
                .provideKey("run in a terminal", or: "passphrase:fd=3"),
                "run in a terminal, such as --key passphrase:fd=3"
            ),
            (
                .moveKey(to: "file:/k"),
                "if you did not choose that source, somebody may have replaced the store: do not sign in, and restore a "
                    + "backup; if you did, leave --key out, or move the store with 'tokenstore rekey --key file:/k'"
            ),
            (.nameAccount(["a"]), "name one by its home account id"),
            (.signInAgain, "sign in again"),
            (Remedy(.confirmFormat, "say so"), "if it is one, say --format msal"),
            (Remedy(.useDevice, "sign in with a code"), "sign in with a code: add --device"),
            (
                Remedy(.makeKey, "make one"),
                "recover the database, or delete the rest with 'tokenstore purge --all' and make a new key with "
                    + "'tokenstore init --key SOURCE' and the role that owns the tables"
            ),
            (
                Remedy(.chooseDefault, "choose one"),
                "choose one with 'tokenstore use', or none with 'tokenstore use --unset'"
            ),
            (Remedy(.rekey, "seal anew"), "run 'tokenstore rekey', which leaves out such rows"),
            (Remedy(.useFamilyTokens, "use them"), "add --family-tokens, or sign in again"),
            (
                Remedy(.nameAuthority, "name it"),
                "name its authority with --authority URL/USERFLOW, or sign in again"
            ),
            (Remedy(.trustAuthority, "trust it"), "name the right authorities with --ca-file"),
            (.correct("write less"), "write less"),
            (Remedy(Remedy.Code(rawValue: "of_a_later_version"), "wait and see"), "wait and see"),
        ] as [(Remedy, String)]
    )
    func `a remedy is shown with its command or option`(remedy: Remedy, hint: String) {
        #expect(remedy.hint == hint)
        #expect(CommandFailure(TokenStoreError(.storage, "it failed", remedy)).sentence == "it failed; \(hint)")
    }

    @Test func `an account that another process has deleted meanwhile fits no selector`() {
        let failure = CommandFailure(AcquisitionError.interactionRequired(.noAccount))
        #expect(failure.status == .noMatch)
        #expect(failure.sentence == "the account is not in the store; sign in again")
        #expect(CommandFailure(AcquisitionError.interactionRequired(.noRefreshToken)).status == .interactionRequired)
    }
}
