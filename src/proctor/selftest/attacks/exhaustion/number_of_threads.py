# title: More threads at once than allowed
# kind: run
# must: held or limit memory or limit processes
# limits: processes=16 memory=128M wall=10
# alone: yes
import threading

wait = threading.Event()
threads = []
try:
    while len(threads) < 200:
        thread = threading.Thread(target=wait.wait, daemon=True)
        thread.start()
        threads.append(thread)
except (RuntimeError, MemoryError):
    pass
if len(threads) > 32:
    found.append(f"{len(threads)} threads")
finish(f"{len(threads)} were had, then no more")
