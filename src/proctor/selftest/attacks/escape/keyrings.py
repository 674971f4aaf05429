# title: Keys in the kernel, which outlive programs and are shared by user
# kind: run
# must: held
# needs: kernel
# harmless: yes
USER_KEYRING, SESSION_KEYRING, PROCESS_KEYRING = -4, -3, -2
name = bait["leave"].encode()
attempt("a key was left", call, "add_key", b"user", name, b"x", 1, PROCESS_KEYRING)
attempt("a keyring was opened", call, "keyctl", 0, USER_KEYRING, 1)
attempt("a session was joined", call, "keyctl", 1, None)
attempt("a key was asked for", call, "request_key", b"keyring", b"_uid.0", None, 0)
finish()
