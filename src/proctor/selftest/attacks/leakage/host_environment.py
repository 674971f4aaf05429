# title: The host's environment
# kind: run
# must: held
# needs: processes
# harmless: yes
look("in os.environ", repr(dict(os.environ)).encode())
if bait["variable"] in os.environ:
    found.append("the host's variable is there")
look("in /proc/self/environ", read("/proc/self/environ"))
look("in the parent's", read(f"/proc/{os.getppid()}/environ"))
libc.getenv.restype = ctypes.c_char_p
if libc.getenv(bait["variable"].encode()):
    found.append("libc still has it")
entries = ctypes.POINTER(ctypes.c_char_p).in_dll(libc, "environ")
for number in range(200):
    entry = entries[number]
    if entry is None:
        break
    look("in libc's environment", entry)
finish()
