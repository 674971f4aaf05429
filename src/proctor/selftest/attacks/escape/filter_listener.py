# title: A filter of its own whose calls another process answers
# kind: run
# must: held
# needs: kernel
# harmless: yes
class Instruction(ctypes.Structure):
    _fields_ = [("code", ctypes.c_uint16), ("jt", ctypes.c_uint8), ("jf", ctypes.c_uint8), ("k", ctypes.c_uint32)]


class Filter(ctypes.Structure):
    _fields_ = [("size", ctypes.c_uint16), ("code", ctypes.POINTER(Instruction))]


code = (Instruction * 1)(Instruction(6, 0, 0, 0x7FFF0000))  # allow all
program = Filter(1, code)
NEW_LISTENER = 1 << 3
libc.prctl(38, 1, 0, 0, 0)
attempt("a listener was made", call, "seccomp", 1, NEW_LISTENER, ctypes.byref(program))
finish()
