# title: clone3, which hides its flags where no filter sees them
# kind: run
# must: held
# needs: kernel
# harmless: yes
arguments = (ctypes.c_uint64 * 11)(1 << 28, 0, 0, 0, 17)
pid = attempt("a user namespace", call, "clone3", arguments, 88)
if pid == 0:
    os._exit(0)
finish()
