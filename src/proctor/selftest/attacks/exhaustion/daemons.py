# title: Daemons that outlive the program, ignoring every signal
# kind: run
# must: held
# limits: processes=32
import signal

for _ in range(8):
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for number in range(1, 65):
                try:
                    signal.signal(number, signal.SIG_IGN)
                except (OSError, ValueError):
                    pass
            while True:
                signal.pause()
        os._exit(0)
finish("whether they are gone is looked at from the host")
