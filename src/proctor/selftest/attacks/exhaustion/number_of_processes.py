# title: More processes at once than allowed
# kind: run
# must: held or limit memory or limit processes
# limits: processes=16 wall=10
# alone: yes
import signal

children = []
try:
    while len(children) < 200:
        child = os.fork()
        if child == 0:
            signal.pause()
        children.append(child)
except OSError:
    pass
if len(children) > 32:  # a few are spare
    found.append(f"{len(children)} processes")
finish(f"{len(children)} were had, then no more")
