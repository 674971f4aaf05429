# title: A flood on every descriptor there is, where the kernel's signal for it is ignored
# kind: run
# must: limit output or limit cpu
# limits: cpu=0.3
import signal

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
while True:
    for fd in range(256):
        try:
            os.write(fd, b"x" * 65536)
        except OSError:
            pass
