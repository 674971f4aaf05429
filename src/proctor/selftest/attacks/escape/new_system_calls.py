# title: System calls so new that a list of the bad ones may lack them
# kind: run
# must: held
# needs: kernel
# harmless: yes
REFUSED = (errno.EPERM, errno.EACCES, errno.ENOSYS, errno.EOPNOTSUPP)
trials = {
    "listmount": ((ctypes.c_uint64 * 4)(24, 0, 0, 0), (ctypes.c_uint64 * 8)(), 8, 0),
    "listns": ((ctypes.c_uint64 * 8)(64), (ctypes.c_uint64 * 8)(), 8, 0),
    "lsm_list_modules": ((ctypes.c_uint64 * 32)(), ctypes.byref(ctypes.c_uint32(256)), 0),
    "file_setattr": (-100, b"/", (ctypes.c_uint64 * 4)(), 24, 0),
    "setxattrat": (-100, b"/", 0, b"user.x", None, 0),
    "process_mrelease": (-1, 0),
    "quotactl": (0x800007, None, 0, None),
}
for name, arguments in trials.items():
    try:
        call(name, *arguments)
        found.append(name)
    except OSError as error:
        if error.errno not in REFUSED:
            found.append(f"{name} ({error.errno})")
finish()
