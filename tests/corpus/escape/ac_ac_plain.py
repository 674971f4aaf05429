# why: an honest program passes; in this folder any other `ac` is a hole
print(sum(map(int, input().split())))
