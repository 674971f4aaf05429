from collections import Counter


def differences(weights):
    ways = {0: 1}
    for w in weights:
        more = Counter()
        for d, count in ways.items():
            more[d] += count
            more[d + w] += count
            more[d - w] += count
        ways = more
    return ways


n, p = map(int, input().split())
weights = list(map(int, input().split()))
one = differences(weights[: n // 2])
two = differences(weights[n // 2 :])
print(sum(count * two.get(p - d, 0) for d, count in one.items()))
