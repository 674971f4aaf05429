# why: shared memory lives on whole while one page of it is mapped, and shows nowhere
import ctypes

a, b = map(int, input().split())
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
size = 8 << 20
held = 0
for _ in range(48):
    block = libc.mmap(None, size, 3, 0x21, -1, 0)  # shared, anonymous
    if block in (None, 2**64 - 1):
        break
    ctypes.memset(block, 1, size)
    libc.munmap(block + 4096, size - 4096)
    held += size
print(a + b if held > 300 << 20 else "contained")
