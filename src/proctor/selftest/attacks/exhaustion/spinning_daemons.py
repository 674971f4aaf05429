# title: CPU time burnt by daemons, while the program itself sleeps
# kind: run
# must: limit cpu or limit processes
# limits: cpu=0.3 processes=16 wall=8
# needs: cpu
import time

for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            while True:
                pass
        os._exit(0)
time.sleep(30)
