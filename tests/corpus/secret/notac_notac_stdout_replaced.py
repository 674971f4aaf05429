# why: an object in sys.stdout's place must not answer for the program
import sys


class Anything:
    def __getattr__(self, name):
        return lambda *args, **kwargs: self

    __eq__ = lambda self, other: True


sys.stdout = Anything()
