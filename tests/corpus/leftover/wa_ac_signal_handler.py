# why: signal handlers are fresh for every test; upstream's are the last test's
# fast: wa
import signal

a, b = map(int, input().split())
dirty = signal.getsignal(signal.SIGUSR1) is signal.SIG_IGN
signal.signal(signal.SIGUSR1, signal.SIG_IGN)
print("dirty" if dirty else a + b)
