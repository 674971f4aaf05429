# title: Signals that the kernel sends when a descriptor is ready (F_SETOWN, F_SETSIG)
# kind: run
# must: held
# needs: signals
# harmless: yes
import fcntl
import socket
import time

F_SETSIG, F_SETOWN_EX = 10, 15
FIOSETOWN, SIOCSPGRP = 0x8901, 0x8902
for owner in (bait["victim"], -bait["victim"]):
    for number in (0, 15):
        a, b = socket.socketpair()
        try:
            for own in (
                lambda: fcntl.fcntl(a, fcntl.F_SETOWN, owner),
                lambda: fcntl.fcntl(a, F_SETOWN_EX, (ctypes.c_int * 2)(1 if owner > 0 else 2, abs(owner))),
                lambda: fcntl.ioctl(a, FIOSETOWN, (ctypes.c_int * 1)(owner)),
                lambda: fcntl.ioctl(a, SIOCSPGRP, (ctypes.c_int * 1)(owner)),
            ):
                try:
                    own()
                except (OSError, ValueError):
                    pass
            fcntl.fcntl(a, F_SETSIG, number)
            fcntl.fcntl(a, fcntl.F_SETFL, os.O_ASYNC | os.O_NONBLOCK)
            b.send(b"now")
        except OSError:
            pass
time.sleep(0.05)
finish("whether a signal arrived is looked at from the host")
