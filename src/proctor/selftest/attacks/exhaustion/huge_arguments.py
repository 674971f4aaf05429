# title: A program started with as many arguments as the kernel takes
# kind: run
# needs: memory
# must: held or limit memory or exit nonzero
import posix

count = 0
for size in (1 << 12, 1 << 15, (1 << 17) - 1, 1 << 20):
    try:
        pid = posix.posix_spawn("/bin/true", ["true", *["x" * size] * 64], {})
        os.waitpid(pid, 0)
        count += 1
    except OSError:
        pass
finish(f"{count} were started")
