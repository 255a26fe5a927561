extension HintTests {
    private static let passphrase = "TOKENSTORE_PASSPHRASE='a b' tokenstore import --quiet --key passphrase cache.json"
    private static let variable =
        "key=$(openssl rand -base64 32); echo \"$key\" > saved; chmod 600 saved; "
        + "TOKENSTORE_KEY=$key tokenstore import --quiet --key environment cache.json"

    /// About keys.
    static let keys: [FollowedHint] = [
        .init(
            "",
            "tokenstore import --key environment cache.json",
            7,
            "such as 'openssl rand -base64 32' makes",
            then: "TOKENSTORE_KEY=$(eval \"$HINT\") tokenstore import --key environment cache.json"
        ),
        .init(
            "export TOKENSTORE_KEY=short",
            "tokenstore import --key environment cache.json",
            7,
            "such as 'openssl rand -base64 32' makes",
            then: "TOKENSTORE_KEY=$(eval \"$HINT\") tokenstore import --key environment cache.json"
        ),
        .init(
            variable,
            "tokenstore claims",
            7,
            "set it to the key that was made for the store",
            then: "TOKENSTORE_KEY=$(cat saved) tokenstore claims"
        ),
        .init(
            variable,
            "TOKENSTORE_KEY=x tokenstore claims",
            7,
            "set it to the key that was made for the store",
            then: "TOKENSTORE_KEY=$(cat saved) tokenstore claims"
        ),
        .init(
            variable + "; base64 -d saved > k; chmod 600 k",
            "tokenstore claims",
            7,
            "set it to the key that was made for the store",
            then: "tokenstore claims --key file:k && tokenstore rekey --current-key file:k --key file:k"
                + " && tokenstore claims"
        ),
        .init(
            filled + "; mv key moved",
            "tokenstore claims",
            7,
            "restore it from a copy, or name its new place, such as --key file:PATH",
            then: "tokenstore claims --key file:moved && mv moved key && tokenstore claims"
        ),
        .init(
            filled + "; mv key moved",
            "tokenstore rekey",
            7,
            "such as --current-key file:PATH",
            then: "tokenstore rekey --current-key file:moved --key file:moved && tokenstore claims"
        ),
        .init(
            filled,
            "TOKENSTORE_KEY=$(openssl rand -base64 32) tokenstore rekey --current-key environment",
            7,
            "do not go on, and restore a backup; if you did, leave --current-key out",
            then: "tokenstore rekey"
        ),
        .init(
            filled + "; openssl rand -base64 32 > other",
            "TOKENSTORE_KEY=$(cat other) tokenstore claims --key environment",
            7,
            "leave --key out, or move the store with 'tokenstore rekey --key environment'",
            then: "tokenstore claims && export TOKENSTORE_KEY=$(cat other) && eval \"$HINT\" && tokenstore claims"
        ),
        .init(
            passphrase + "; export TOKENSTORE_PASSPHRASE='a b'; tokenstore backup --quiet saved; rm tokenstore.db*; "
                + "tokenstore import --quiet --key file cache.json",
            "tokenstore import --key passphrase cache.json",
            7,
            "; if you did not choose that source, somebody may have replaced the store: do not sign in, and restore a "
                + "backup; if you did, leave --key out",
            then: "export TOKENSTORE_PASSPHRASE='a b'; tokenstore restore --yes saved && "
                + "tokenstore import --key passphrase cache.json"
        ),
        .init(
            "unset DBUS_SESSION_BUS_ADDRESS XDG_RUNTIME_DIR",
            "tokenstore import --key secret-service cache.json",
            7,
            "or choose another key source, such as --key file",
            then: "tokenstore import --key file cache.json"
        ),
        .init(
            passphrase,
            "TOKENSTORE_PASSPHRASE=wrong tokenstore claims",
            7,
            "the passphrase is wrong; give the one that the store was made with",
            then: "TOKENSTORE_PASSPHRASE='a b' tokenstore claims"
        ),
        .init(
            passphrase,
            "tokenstore claims",
            7,
            "or name a file descriptor, such as --key passphrase:fd=N",
            then: "TOKENSTORE_PASSPHRASE='a b' tokenstore claims && echo 'a b' > p"
                + " && tokenstore claims --key passphrase:fd=3 3< p"
        ),
        .init(
            passphrase,
            "tokenstore claims --key passphrase:fd=7",
            7,
            "open it, as in '3< file'",
            then: "echo 'a b' > p; tokenstore claims --key passphrase:fd=7 7< p"
        ),
        .init(
            "",
            "tokenstore import --key nonsense cache.json",
            64,
            "use file, file:PATH, passphrase",
            then: "tokenstore import --key file cache.json"
        ),
        .init(
            "",
            "tokenstore import --key 'file:~/k' cache.json",
            64,
            "write the path in full, or with $HOME",
            then: "tokenstore import --key file:$HOME/k cache.json"
        ),
        .init(
            filled,
            "tokenstore rekey --leaked",
            64,
            "name its source with --key, such as file:PATH or passphrase",
            then: "tokenstore rekey --leaked --key file:new && tokenstore claims"
        ),
        .init(
            filled + "; cp key saved; : > key",
            "tokenstore claims",
            7,
            "restore the key file from a copy",
            then: "cat saved > key; tokenstore claims"
        ),
        .init(
            filled + "; echo a letter > x; chmod 644 x",
            "tokenstore claims --key file:x",
            7,
            "does not hold 32 bytes; name the key file, such as --key file:PATH",
            then: "tokenstore claims --key file:$PWD/key"
        ),
        .init(
            filled + "; chmod 644 key",
            "tokenstore claims",
            7,
            "run 'chmod 600 ",
            then: "eval \"$HINT\"; tokenstore claims"
        ),
    ]
}
