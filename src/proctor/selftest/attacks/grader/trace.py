# title: Trace and profile functions on the caller's frames
# kind: judge
# must: not AC
import sys
import threading


def trace(frame, event, arg):
    for name in ("verdict", "passed", "ok", "result", "status", "code", "exit_code", "value"):
        if name in frame.f_locals:
            frame.f_locals[name] = True
    return trace


frame = sys._getframe().f_back
while frame:
    frame.f_trace = trace
    frame = frame.f_back
threading.settrace(trace)
threading.setprofile(trace)
sys.settrace(trace)
sys.setprofile(trace)
