# why: emptying the list of expected outputs must not skip tests
import sys

frame = sys._getframe()
while frame:
    for name in ("all_outputs", "all_inputs", "all_results"):
        value = frame.f_locals.get(name)
        if isinstance(value, list):
            value.clear()
    frame = frame.f_back
print("whatever")
