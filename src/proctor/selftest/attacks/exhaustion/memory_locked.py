# title: Memory that cannot be swapped out
# kind: run
# must: held
import mmap

part = mmap.mmap(-1, 32 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
address = ctypes.addressof(ctypes.c_char.from_buffer(part))
if libc.mlock(ctypes.c_void_p(address), ctypes.c_size_t(32 << 20)) == 0:
    found.append("32 MiB were locked")
if libc.mlockall(7) == 0:
    found.append("all was locked")
finish()
