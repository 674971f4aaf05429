# why: names and text beyond ASCII survive the way to the judge
größe, naïf = map(int, input().split())
π = größe + naïf
print(π, end="\r\n")
