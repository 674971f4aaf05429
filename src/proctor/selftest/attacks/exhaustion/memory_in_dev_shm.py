# title: Memory in files of /dev/shm, mapped and not
# kind: run
# must: held or limit memory or exit nonzero or signal
# needs: memory
# limits: loopback
try:
    size = 0
    for number in range(1000):
        with open(f"/dev/shm/{number}", "wb", buffering=0) as file:
            for _ in range(2):
                size += file.write(b"x" * (256 << 10))
except OSError:
    pass
if size > 70 << 20:
    found.append(f"{size >> 20} MiB")
finish(f"{size >> 20} MiB were written, then no more")
