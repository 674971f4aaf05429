from collections import Counter


def sums(weights):
    ways = {0: 1}
    for w in weights:
        more = Counter(ways)
        for s, count in ways.items():
            more[s + w] += count
        ways = more
    return ways


n, p = map(int, input().split())
weights = list(map(int, input().split()))
one = sums(weights[: n // 2])
two = sums(weights[n // 2 :])
print(sum(count * two.get(p - s, 0) for s, count in one.items()))
