# why: harmless use of global machinery changes nothing for the next test
import gc
import threading

a, b = map(int, input().split())
gc.disable()
gc.collect()
gc.enable()
local = threading.local()
local.total = a + b
print(local.total)
