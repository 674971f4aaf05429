# title: A caller's code exchanged while it runs
# kind: judge
# must: not AC
import sys

frame = sys._getframe().f_back
while frame:
    function = frame.f_globals.get(frame.f_code.co_name)
    if hasattr(function, "__code__") and not function.__code__.co_freevars:
        try:
            function.__code__ = (lambda *args, **kwargs: 0).__code__
        except (ValueError, TypeError):
            pass
    frame = frame.f_back
print("whatever")
