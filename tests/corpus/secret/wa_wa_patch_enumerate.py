# why: a builtin that yields nothing must not skip the comparison
# upstream: AC (cheat) builtins.enumerate drives the loop over lines
import builtins

builtins.enumerate = lambda *args, **kwargs: []
print("whatever")
