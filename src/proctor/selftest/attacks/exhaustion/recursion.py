# title: Recursion without end, with the interpreter's limit lifted
# kind: run
# needs: memory
# must: signal or limit memory or exit nonzero or limit cpu
sys.setrecursionlimit(1 << 30)


def down(value):
    return down([value])


down(0)
