# title: A fork bomb whose every process leaves its session and its parent
# kind: run
# must: limit cpu or limit memory or limit processes
# limits: cpu=0.3 processes=24
# needs: cpu
# alone: yes
import posix

first = posix.getpid()
while True:
    try:
        if posix.fork() == 0:
            posix.setsid()
        elif posix.getpid() != first:
            posix._exit(0)
    except OSError:
        pass
