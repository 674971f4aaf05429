# why: one input() too many is an EOFError in both modes
n = int(input())
print(sum(int(input()) for _ in range(n + 2)))
