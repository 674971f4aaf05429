# why: one line too many is a wrong answer
n = int(input())
print(sum(int(input()) for _ in range(n)))
print("done")
