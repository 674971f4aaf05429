def ways(weights, i, difference):
    if i == len(weights):
        return int(difference == 0)
    w = weights[i]
    return (
        ways(weights, i + 1, difference)
        + ways(weights, i + 1, difference + w)
        + ways(weights, i + 1, difference - w)
    )


n, p = map(int, input().split())
print(ways(list(map(int, input().split())), 0, p))
