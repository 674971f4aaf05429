# why: an exception in __del__ at exit is printed and does not change the exit code
class Bye:
    def __del__(self):
        raise RuntimeError("too late")


a, b = map(int, input().split())
bye = Bye()
print(a + b)
