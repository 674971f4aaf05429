# title: Descriptors beyond the three: files, directories, sockets of the host's
# kind: run
# must: held
import stat

for fd in range(3, 1024):
    try:
        mode = os.fstat(fd).st_mode
    except OSError:
        continue
    found.append(f"descriptor {fd} ({stat.filemode(mode)})")
for fd in range(3):
    if not stat.S_ISREG(os.fstat(fd).st_mode) and not stat.S_ISCHR(os.fstat(fd).st_mode):
        found.append(f"descriptor {fd} is not a plain file")
finish()
