# title: More on its scratch disk than it was given
# kind: run
# needs: filesystem output
# must: held or exit nonzero or limit disk or limit memory or signal
# limits: disk=2M
try:
    size = 0
    for number in range(64):
        fd = os.open(bait["leave"] + str(number), os.O_CREAT | os.O_WRONLY, 0o600)
        size += os.write(fd, b"x" * (256 << 10))
except OSError:
    pass
if size > 3 << 20:
    found.append(f"{size} bytes")
finish(f"{size} bytes were written, then no more")
