# title: System V segments, queues and semaphores of the host's
# kind: run
# must: held
# needs: processes
# harmless: yes
libc.shmat.restype = ctypes.c_void_p
if bait["segment"] is not None:
    try:
        segment = call("shmget", bait["segment"], 4096, 0)
        found.append("the host's segment was found")
        address = libc.shmat(segment, None, 0o10000)
        if address not in (None, ctypes.c_void_p(-1).value):
            look("and read", ctypes.string_at(address, bait["length"]))
    except OSError:
        pass
for name in ("shm", "msg", "sem"):
    if read(f"/proc/sysvipc/{name}").count(b"\n") > 1:
        found.append(f"/proc/sysvipc/{name}")
finish()
