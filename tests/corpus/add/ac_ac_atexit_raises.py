# why: an exception in an exit handler is printed and does not change the exit code
import atexit

a, b = map(int, input().split())
atexit.register(lambda: 1 // 0)
print(a + b)
