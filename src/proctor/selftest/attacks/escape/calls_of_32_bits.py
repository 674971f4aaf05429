# title: The same system calls by their 32-bit numbers
# kind: run
# must: held or signal
# needs: kernel
# harmless: yes
import mmap

if not _X86:
    finish("no such numbers on this machine")
page = mmap.mmap(-1, 4096, prot=7, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
page.write(bytes.fromhex("53b814000000cd805bc3"))  # int 0x80 with 20, getpid
function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))
if function() > 0:
    found.append("int 0x80 was answered")
finish()
