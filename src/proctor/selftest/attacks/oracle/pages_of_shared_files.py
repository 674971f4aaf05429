# title: Which pages of shared files are in memory: to drop them, and to ask for them
# kind: run
# must: held
# needs: kernel
import mmap

file = os.open(os.__file__, os.O_RDONLY)
attempt("pages dropped", os.posix_fadvise, file, 0, 0, os.POSIX_FADV_DONTNEED)
attempt("pages asked for", os.preadv, file, [bytearray(16)], 0, os.RWF_NOWAIT)
mapped = mmap.mmap(file, 4096, mmap.MAP_SHARED, mmap.PROT_READ)
for advice in (20, 21):  # MADV_COLD, MADV_PAGEOUT
    attempt(f"madvise {advice}", mapped.madvise, advice)
state = ctypes.create_string_buffer(16)
page = ctypes.cast(libc.printf, ctypes.c_void_p).value & ~4095
attempt("mincore", call, "mincore", ctypes.c_void_p(page), 4096, state)
attempt("cachestat", call, "cachestat", file, ctypes.create_string_buffer(16), state, 0)
for hint in range(1035, 1039):  # how long what is written will live
    attempt(f"hint {hint}", __import__("fcntl").fcntl, file, hint, bytes(8))
finish()
