# title: Processes that die as soon as they have made one more: never many, always new
# kind: run
# must: any end
# limits: cpu=0.3 processes=24 wall=4
# needs: cpu
# alone: yes
import posix


while True:
    try:
        if posix.fork():
            posix._exit(0)
        os.setsid()
    except OSError:
        pass
