# why: a stopped tree has to be ended as well as a running one
import posix
import signal

for _ in range(4):
    if posix.fork() == 0:
        posix.kill(posix.getpid(), signal.SIGSTOP)
while True:
    pass
