# title: An earlier program's input, behind a descriptor or in a buffer
# kind: pair
# must: held
print(bait["plant"])
# --- second ---
for fd in range(256):
    try:
        os.lseek(fd, 0, 0)
    except OSError:
        pass
    for offset in (0, 4096, 1 << 16):
        try:
            if PLANTED.search(os.pread(fd, 1 << 20, offset)):
                found.append(f"behind descriptor {fd}")
        except OSError:
            pass
finish()
