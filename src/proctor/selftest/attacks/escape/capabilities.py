# title: Capabilities left over, or to be gained
# kind: run
# must: held
# needs: kernel
# harmless: yes
PR_CAPBSET_READ, PR_GET_NO_NEW_PRIVS, PR_SET_NO_NEW_PRIVS, PR_CAP_AMBIENT = 23, 39, 38, 47
lines = read("/proc/self/status").decode().splitlines()
fields = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
for name in ("CapInh", "CapPrm", "CapEff", "CapAmb"):
    if int(fields.get(name, "0"), 16):
        found.append(f"{name} is not empty")
if libc.prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1:
    found.append("programs with more rights may be started")
if libc.prctl(PR_SET_NO_NEW_PRIVS, 0, 0, 0, 0) == 0:
    found.append("and that could be allowed again")
header = (ctypes.c_uint32 * 2)(0x20080522, 0)
attempt("capset", call, "capset", header, (ctypes.c_uint32 * 6)(1 << 21, 1 << 21, 0, 0, 0, 0))
finish()
