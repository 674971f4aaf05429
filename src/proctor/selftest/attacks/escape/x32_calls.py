# title: The same system calls by their x32 numbers
# kind: run
# must: held
# needs: kernel
# harmless: yes
if not _X86:
    finish("no such numbers on this machine")
attempt("getpid", raw, 0x40000000 + 39)
attempt("unshare", raw, 0x40000000 + 272, 1 << 28)
finish()
