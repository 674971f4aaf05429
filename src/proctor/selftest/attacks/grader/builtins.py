# title: Replaced builtins
# kind: judge
# must: not AC
import builtins

print("whatever")
for name in ("len", "zip", "all", "any", "str", "isinstance", "enumerate", "sorted", "repr", "min", "max", "open", "exec",
             "compile", "eval", "int", "bytes", "__import__", "print", "range", "getattr", "hasattr", "id", "type"):
    setattr(builtins, name, lambda *args, **kwargs: True)
