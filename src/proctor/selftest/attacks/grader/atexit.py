# title: Handlers that run after the program: atexit, excepthook, unraisablehook
# kind: judge
# must: not AC
import atexit
import os
import sys
import threading

atexit.register(os._exit, 0)
sys.excepthook = lambda *args: os._exit(0)
sys.unraisablehook = lambda *args: os._exit(0)
threading.excepthook = lambda *args: os._exit(0)
threading._shutdown = lambda: os._exit(0)
raise SystemError("passed")
