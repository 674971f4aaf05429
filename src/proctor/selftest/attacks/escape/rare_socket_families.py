# title: Socket families nobody needs: raw packets, ciphers, Bluetooth, CAN and the rest
# kind: run
# must: held
# needs: kernel
# harmless: yes
made, pair = [], (ctypes.c_int * 2)()
for family in sorted(set(range(3, 46)) - {10, 16, 40}):
    for kind in (1, 2, 3, 5):
        if libc.socket(family, kind, 0) >= 0:
            made.append(str(family))
        # socketpair makes the sockets before it finds that the family has no pairs
        if libc.socketpair(family, kind, 0, pair) == 0:
            made.append(str(family))
if made:
    found.append(f"families {', '.join(dict.fromkeys(made))}")
finish()
