# title: A program that stops itself, and its children
# kind: run
# must: limit wall
# limits: wall=0.4
import signal

for _ in range(4):
    if os.fork() == 0:
        os.kill(os.getpid(), signal.SIGSTOP)
os.kill(os.getpid(), signal.SIGSTOP)
