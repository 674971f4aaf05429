# why: only the program's own exit code counts, not its child's
import posix

print(sum(map(int, input().split())), flush=True)
if posix.fork() == 0:
    posix._exit(0)
posix.wait()
posix._exit(3)
