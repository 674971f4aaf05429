# why: /dev/stdin is the real descriptor, which upstream leaves empty
with open("/dev/stdin") as f:
    data = f.read().split()
print(sum(map(int, data[1:])))
