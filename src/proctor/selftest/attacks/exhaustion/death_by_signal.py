# title: Crashing the interpreter
# kind: run
# must: signal
ctypes.string_at(0)
