# why: replaced builtins must hurt nobody but the program
import builtins

print("whatever")
builtins.len = lambda x: 0
builtins.zip = lambda *args: []
builtins.all = lambda x: True
builtins.str = lambda *args: "x"
builtins.isinstance = lambda *args: True
