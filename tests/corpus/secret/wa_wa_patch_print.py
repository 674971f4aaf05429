# why: print is the program's own affair
import builtins

builtins.print = lambda *args, **kwargs: None
print("whatever")
