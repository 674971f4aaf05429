# title: Segment descriptors and I/O ports of the processor
# kind: run
# must: held
# needs: kernel
# harmless: yes
attempt("modify_ldt", call, "modify_ldt", 0, ctypes.create_string_buffer(64), 64)
attempt("iopl", call, "iopl", 3)
attempt("ioperm", call, "ioperm", 0x80, 1, 1)
attempt("uselib", call, "uselib", b"/bin/sh")
finish()
