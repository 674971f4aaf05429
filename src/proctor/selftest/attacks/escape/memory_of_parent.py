# title: Memory of the agent, which all jobs are forked from
# kind: run
# must: held
# needs: processes
# harmless: yes
class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


page = ctypes.create_string_buffer(64)
mine, theirs = Part(ctypes.addressof(page), 64), Part(id(os), 64)
for pid in {os.getppid(), 1} - {0, os.getpid()}:
    attempt("process_vm_readv", call, "process_vm_readv", pid, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
    attempt("its memory could be opened", os.open, f"/proc/{pid}/mem", os.O_RDWR)
    attempt("it could be traced", call, "ptrace", 0x4206, pid, 0, 0)
finish()
