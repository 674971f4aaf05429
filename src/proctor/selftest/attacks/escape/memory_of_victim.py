# title: Memory of a process of the same user
# kind: run
# must: held
# needs: processes
# harmless: yes
class Part(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("size", ctypes.c_size_t)]


victim, address, size = bait["victim"], bait["address"], bait["length"]
page = ctypes.create_string_buffer(size)
mine, theirs = Part(ctypes.addressof(page), size), Part(address, size)
for name in ("process_vm_readv", "process_vm_writev"):
    if name == "process_vm_writev":
        page.raw = b"x" * size
    attempt(name, call, name, victim, ctypes.byref(mine), 1, ctypes.byref(theirs), 1, 0)
fd = attempt("/proc/PID/mem could be opened", os.open, f"/proc/{victim}/mem", os.O_RDONLY)
if fd is not None:
    look("its memory was read", os.pread(fd, size, address))
finish()
