# why: the same recursion in a thread with a stack of its own
import sys
import threading
from functools import lru_cache

sys.setrecursionlimit(10**6)
threading.stack_size(128 << 20)


@lru_cache(None)
def depth(n):
    return 0 if n == 0 else 1 + depth(n - 1)


thread = threading.Thread(target=lambda: print(depth(int(input()))))
thread.start()
thread.join()
