# title: kcmp and move_pages look at other processes
# kind: run
# must: held
# needs: processes
# harmless: yes
victim = bait["victim"]
attempt("kcmp", call, "kcmp", os.getpid(), victim, 1, 0, 0)
pages = (ctypes.c_void_p * 1)(bait["address"] & ~4095)
status = (ctypes.c_int * 1)()
attempt("move_pages", call, "move_pages", victim, 1, pages, None, status, 0)
mask = ctypes.c_ulong(1)
attempt("migrate_pages", call, "migrate_pages", victim, 8, ctypes.byref(mask), ctypes.byref(mask))
finish()
