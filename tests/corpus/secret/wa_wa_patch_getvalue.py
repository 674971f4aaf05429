# why: the capture stream's own methods must not be trusted
# upstream: AC (cheat) getvalue is an attribute the program can set to return an equal-to-all text
import sys


class Anything(str):
    def strip(self, *args):
        return self

    def split(self, *args):
        return [self]

    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = str.__hash__


try:
    sys.stdout.getvalue = lambda: Anything("x")
except AttributeError:
    pass
print("whatever")
