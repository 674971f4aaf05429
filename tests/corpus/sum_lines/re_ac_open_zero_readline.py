# why: an empty first line from open(0) is not a number
f = open(0)
n = int(f.readline())
print(sum(int(f.readline()) for _ in range(n)))
