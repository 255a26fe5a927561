extension HintTests {
    /// A log of one header, in the place of one that a killed program left.
    private static let lostButTheLog =
        "; tokenstore backup --quiet b; rm tokenstore.db*; (printf '\\x37\\x7f\\x06\\x82\\x00\\x2d\\xe2\\x18'"
        + "; printf '\\x00\\x00\\x10\\x00'; head -c 20 /dev/zero) > log; cp log tokenstore.db-wal"
        + "; chmod 600 tokenstore.db-wal"

    /// About files.
    static let files: [FollowedHint] = [
        .init(
            "",
            "tokenstore list",
            0,
            "or fill it with 'tokenstore import FILE'",
            then: "tokenstore import cache.json"
        ),
        .init(
            "",
            "tokenstore claims x",
            3,
            "or fill it with 'tokenstore import FILE'",
            then: "tokenstore import cache.json"
        ),
        .init(
            "mkdir -m 755 d",
            "tokenstore list --store d/",
            0,
            "run 'chmod 700 ",
            then: "eval \"$HINT\" && tokenstore import --store d/ cache.json"
        ),
        .init(
            "mkdir -m 755 d d/others",
            "tokenstore import --store d/s.db cache.json",
            1,
            "put the store into a separate directory, and name that with --store",
            then: "tokenstore import --store d/own/ cache.json"
        ),
        .init(
            "chmod 755 .",
            "tokenstore init --store sessions",
            1,
            "put the store into a separate directory, such as ",
            then: "tokenstore init --store sessions/"
        ),
        .init(
            "tokenstore import --quiet --store d/ cache.json; chmod 755 d",
            "tokenstore list --store d/",
            1,
            "run 'chmod 700 ",
            then: "eval \"$HINT\"; tokenstore list --store d/"
        ),
        .init(
            filled + "; chmod 644 cache.json; chmod 755 .",
            "tokenstore list",
            1,
            "put the store into a separate directory, and name that with --store",
            then: "mkdir -m 700 d && mv tokenstore.* key d && tokenstore claims --store d/ mara@example.net"
        ),
        .init(
            filled + "; chmod 644 tokenstore.db",
            "tokenstore list",
            1,
            "run 'chmod 600 ",
            then: "eval \"$HINT\"; tokenstore list"
        ),
        .init(
            filled + "; ln -s tokenstore.db link",
            "tokenstore list --store link",
            1,
            "name the file itself: --store ",
            then: "tokenstore list --store $PWD/tokenstore.db"
        ),
        .init(
            filled + "; : > tokenstore.db; rm -f tokenstore.db-*",
            "tokenstore list",
            6,
            "restore a copy, or remove it to start anew",
            then: "rm tokenstore.db; tokenstore import cache.json"
        ),
        .init(
            filled + "; tokenstore backup --quiet b; truncate -s 40 tokenstore.db; rm -f tokenstore.db-*",
            "tokenstore list",
            6,
            "and restore a backup with 'tokenstore restore FILE'",
            then: "eval \"$HINT\" && tokenstore restore --yes b && tokenstore claims mara@example.net"
        ),
        .init(
            filled + "; tokenstore backup --quiet b; truncate -s 0 tokenstore.db; truncate -s 8192 tokenstore.db",
            "tokenstore restore --yes b",
            6,
            "and restore a backup with 'tokenstore restore FILE'",
            then: "eval \"$HINT\" && tokenstore restore --yes b && tokenstore claims mara@example.net"
        ),
        .init(
            filled + "; tokenstore backup --quiet b; rm tokenstore.db*; : > tokenstore.db; chmod 644 tokenstore.db",
            "tokenstore restore --yes b",
            1,
            "run 'chmod 600 ",
            then: "eval \"$HINT\" && tokenstore restore --yes b && tokenstore claims mara@example.net"
        ),
        .init(
            filled + lostButTheLog,
            "tokenstore list",
            6,
            "restore a copy, or start anew with 'tokenstore purge --all'",
            then: "tokenstore restore --dry-run b | grep 'would keep .*/tokenstore.db-wal, the log'"
                + " && tokenstore restore b && tokenstore claims mara@example.net"
                + " && cmp log tokenstore.db.replaced-*-wal"
        ),
        .init(
            filled + lostButTheLog,
            "tokenstore check --repair --yes",
            1,
            "restore a copy, or start anew with 'tokenstore purge --all'",
            then: "eval \"$HINT\" --yes && tokenstore import cache.json"
        ),
        .init("", "tokenstore copy nope/ new/ --yes", 1, "check FROM", then: "test ! -e nope && test ! -e new"),
        .init(
            filled + "; ln -s tokenstore.db link",
            "tokenstore copy link new/ --yes",
            1,
            "name the file itself: /",
            then: "tokenstore copy $PWD/tokenstore.db new/ --yes"
        ),
        .init(
            filled + "; mkdir open; chmod 1777 open",
            "tokenstore copy tokenstore.db open/ --yes",
            1,
            "put the store into a separate directory",
            then: "tokenstore copy tokenstore.db new/ --yes"
        ),
        .init("", "tokenstore import .", 1, "name the cache file in it", then: "tokenstore import ./cache.json"),
        .init(
            ": > empty",
            "tokenstore import empty",
            1,
            "name a file that holds an MSAL cache",
            then: "tokenstore import cache.json"
        ),
        .init(
            "echo '{\"a\":1}' > x.json",
            "tokenstore import x.json",
            1,
            "if it is one, say --format msal",
            then: "tokenstore import --format msal x.json"
        ),
        .init(
            filled + "; echo > x",
            "tokenstore export x",
            1,
            "add --yes to go ahead",
            then: "tokenstore export --yes x"
        ),
        .init(
            filled,
            "tokenstore export tokenstore.db",
            64,
            "name another file, or - for standard output",
            then: "tokenstore export x && tokenstore export - > y"
        ),
        .init(
            filled + "; echo 'a b' > x",
            "tokenstore token --scope tasks.read --output x",
            1,
            "name another file, or remove that one",
            then: "tokenstore token --scope tasks.read --output y && rm x"
                + " && tokenstore token --scope tasks.read --output x"
        ),
        .init(filled + "; echo > x", "tokenstore backup x", 1, "name another file", then: "tokenstore backup y"),
        .init(
            filled,
            "tokenstore backup nodir/x",
            1,
            "create it with 'mkdir -p -m 700 ",
            then: "eval \"$HINT\" && tokenstore backup nodir/x"
        ),
        .init(
            filled + "; tokenstore backup --quiet b",
            "tokenstore restore b",
            1,
            "add --yes to go ahead, or --dry-run",
            then: "tokenstore restore --dry-run b && tokenstore restore --yes b"
        ),
        .init(
            filled,
            "tokenstore restore cache.json",
            6,
            "name a file that a backup has made",
            then: "tokenstore backup b && tokenstore restore --yes b"
        ),
        .init(
            "",
            "tokenstore rekey",
            1,
            "make one with 'tokenstore import --key SOURCE FILE'",
            then: "tokenstore import --key file cache.json && tokenstore rekey"
        ),
        .init(
            filled,
            "tokenstore purge --all",
            1,
            "add --yes to go ahead, or --dry-run",
            then: "tokenstore purge --all --dry-run && tokenstore purge --all --yes"
        ),
        .init(
            filled + "; sqlite3 tokenstore.db 'UPDATE access_token SET secret = zeroblob(length(secret))'",
            "tokenstore check",
            6,
            "salvage it with 'tokenstore check --repair'",
            then: "eval \"$HINT --yes\"; tokenstore check"
        ),
        .init(
            filled + "; sqlite3 tokenstore.db 'UPDATE data_key SET is_current = 2'",
            "tokenstore import cache.json",
            10,
            "if nobody moved it, take that back with 'tokenstore copy --undo ",
            then: "eval \"$HINT --yes\" && tokenstore import cache.json"
        ),
        .init(
            filled + "; sqlite3 tokenstore.db 'UPDATE data_key SET is_current = 2'",
            "tokenstore check",
            6,
            "if nobody moved it, take that back with 'tokenstore copy --undo ",
            then: "eval \"$HINT --yes\" && tokenstore check"
        ),
    ]
}
