extension HintTests {
    /// About words.
    static let words: [FollowedHint] = [
        .init(
            filled,
            "tokenstore claims mara@exmaple.net",
            3,
            "did you mean 'mara@example.net'?",
            then: "tokenstore claims \"$HINT\""
        ),
        .init(filled, "tokenstore claims nobody", 3, "see the accounts with 'tokenstore list'", then: "eval \"$HINT\""),
        .init(filled, "tokenstore lsit", 64, "did you mean 'list'?", then: "tokenstore \"$HINT\""),
        .init("", "tokenstore frobnicate", 64, "see 'tokenstore --help'", then: "eval \"$HINT\""),
        .init(filled, "tokenstore list --jsno", 64, "did you mean '--json'?", then: "tokenstore list $HINT"),
        .init(filled, "tokenstore list --limit x", 64, "see 'tokenstore list --help'", then: "eval \"$HINT\""),
        .init(
            filled,
            "tokenstore list --timeout -1",
            64,
            "give a number of seconds",
            then: "tokenstore list --timeout 1"
        ),
        .init(
            filled,
            "tokenstore purge --older-than 3x",
            64,
            "give one such as 90s, 15m, 12h, 30d or 8w",
            then: "tokenstore purge --older-than 8w --yes"
        ),
        .init(
            filled,
            "tokenstore list --where =x",
            64,
            "give NAME=VALUE, NAME~=TEXT or NAME",
            then: "tokenstore list --where a=x && tokenstore list --where a~=x && tokenstore list --where a"
        ),
        .init(
            "",
            "tokenstore login --client-id app",
            64,
            "give --issuer, --authority or --environment",
            then: "tokenstore login --client-id app --issuer http://127.0.0.1:1",
            end: 8
        ),
        .init(
            "",
            "tokenstore login --client-id a --issuer http://127.0.0.1:1 --authority https://a.example.com/b",
            64,
            "give one of them",
            then: "tokenstore login --client-id a --issuer http://127.0.0.1:1",
            end: 8
        ),
        .init(
            filled,
            "tokenstore exec",
            64,
            "write it behind --, as in 'tokenstore exec -- env'",
            then: "eval \"$HINT\""
        ),
        .init(
            filled,
            "tokenstore exec --env 1x -- true",
            64,
            "give one of letters, digits and _, such as ACCESS_TOKEN",
            then: "tokenstore exec --env ACCESS_TOKEN -- true"
        ),
        .init(
            filled,
            "tokenstore credential git get < /dev/null",
            64,
            "name one with --host",
            then: "tokenstore credential git --host git.example.com get < /dev/null"
        ),
        .init(
            filled,
            "tokenstore token --env-name T --format json",
            64,
            "leave --format out",
            then: "tokenstore token --env-name T"
        ),
        .init(
            filled,
            "tokenstore history mara@example.net --account mara@example.net",
            64,
            "leave --account out",
            then: "tokenstore history mara@example.net"
        ),
    ]
}
