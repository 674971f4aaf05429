# title: io_uring, whose requests no filter sees
# kind: run
# must: held
# needs: kernel
# harmless: yes
attempt("a ring was made", call, "io_uring_setup", 4, ctypes.create_string_buffer(256))
finish()
