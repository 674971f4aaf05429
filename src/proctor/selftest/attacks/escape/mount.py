# title: Mounts, by the old call and the new ones, and taking mounts away
# kind: run
# must: held
# needs: kernel
attempt("tmpfs", call, "mount", b"none", b"/tmp", b"tmpfs", 0, None)
attempt("proc", call, "mount", b"proc", b"/proc", b"proc", 0, None)
attempt("a bind mount", call, "mount", b"/", b"/tmp", None, 4096, None)
attempt("a remount", call, "mount", b"none", b"/", None, 32 | 4096, None)
attempt("fsopen", call, "fsopen", b"tmpfs", 0)
attempt("open_tree", call, "open_tree", -100, b"/", 1)
attempt("fspick", call, "fspick", -100, b"/", 0)
attributes = (ctypes.c_uint64 * 4)(0, 1, 0, 0)
attempt("mount_setattr", call, "mount_setattr", -100, b"/", 0, attributes, 32)
for place in (b"/proc", b"/tmp", b"/dev", b"/usr", b"/"):
    attempt(f"{place.decode()} was unmounted", call, "umount2", place, 2)
finish()
