# title: Output without end, where the kernel's signal for it is ignored
# kind: run
# must: limit output or limit cpu
# limits: cpu=0.3
import signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
while True:
    try:
        os.write(1, b"x" * (1 << 16))
    except OSError:
        pass
