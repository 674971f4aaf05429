# title: Programs and maps in the kernel
# kind: run
# must: held
# needs: kernel
# harmless: yes
attributes = (ctypes.c_uint32 * 32)(2, 4, 4, 1)  # an array map with one entry
attempt("a map was made", call, "bpf", 0, attributes, 128)
finish()
