# title: Processes that only make more processes
# kind: run
# must: limit cpu or limit memory or limit processes
# limits: cpu=0.3 processes=24
# needs: cpu
# alone: yes
import posix

while True:
    try:
        posix.fork()
    except OSError:
        pass
