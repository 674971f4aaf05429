# why: no change of identity, no capabilities
import ctypes
import os

a, b = map(int, input().split())
escaped = False
me = os.getuid()
for uid in {0, 1, 1000, 65533} - {me, os.getgid()}:
    for change in (os.setuid, os.setgid, os.seteuid, lambda u: os.setgroups([u])):
        try:
            change(uid)
            escaped = True
        except (OSError, TypeError):
            pass
escaped |= ctypes.CDLL(None).prctl(47, 2, 21, 0, 0) == 0
print(a + b if escaped else "contained")
