# title: Replaced stream objects and capture buffers
# kind: judge
# must: not AC
import io
import sys


class Anything(str):
    __eq__ = lambda self, other: True
    __ne__ = lambda self, other: False
    __hash__ = str.__hash__
    __getattr__ = lambda self, name: lambda *args, **kwargs: self
    strip = split = lambda self, *args: self


for cls in {type(sys.stdout), io.TextIOWrapper, io.StringIO, io.BytesIO}:
    for name in ("getvalue", "read", "flush"):
        try:
            setattr(cls, name, lambda *args: Anything("x"))
        except (TypeError, AttributeError):
            pass
try:
    sys.stdout.getvalue = lambda: Anything("x")
except AttributeError:
    pass
sys.stdout = sys.__stdout__ = Anything("x")
