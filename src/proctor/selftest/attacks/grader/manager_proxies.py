# title: The result lists and managers that some judges share with the program
# kind: judge
# must: not AC
import gc
import glob
import multiprocessing.connection
import multiprocessing.process
import os
import sys

key = bytes(multiprocessing.process.current_process().authkey)
for path in glob.glob("/tmp/pymp-*/listener-*") + [f"\0listener-{os.getppid()}-0"]:
    try:
        with multiprocessing.connection.Client(path, authkey=key) as client:
            client.send((None, "append", ([[True]],), {}))
    except OSError:
        pass
for value in gc.get_objects():
    if "Proxy" in type(value).__name__ and hasattr(value, "append"):
        value.append([True])
frame = sys._getframe()
while frame:
    for value in list(frame.f_locals.values()):
        if "Proxy" in type(value).__name__ and hasattr(value, "append"):
            value.append([True])
        if isinstance(value, list) and value and all(isinstance(x, str) for x in value):
            value.clear()
    frame = frame.f_back
