# title: A stack that only grows
# kind: run
# needs: memory
# must: signal or limit memory or exit nonzero
sys.setrecursionlimit(1 << 30)


class Deep:
    def __repr__(self):
        return repr(self)  # goes through C, which no recursion limit of Python's counts


def down(n):
    return down(n + 1) + [n]


print(repr(Deep())[:0], down(0)[:0])
