MOD = 998244353
# State: ways to stand on the steps k, k-1, k-2 in all, and on k, k-1, k-2 with a last stride of three.
STEP = [
    [1, 1, 1, 0, 0, -1],
    [1, 0, 0, 0, 0, 0],
    [0, 1, 0, 0, 0, 0],
    [0, 0, 1, 0, 0, -1],
    [0, 0, 0, 1, 0, 0],
    [0, 0, 0, 0, 1, 0],
]


def multiply(x, y):
    columns = list(zip(*y))
    return [[sum(p * q for p, q in zip(row, column)) % MOD for column in columns] for row in x]


def ways(n):
    state = [[1], [0], [0], [0], [0], [0]]
    power = STEP
    while n:
        if n & 1:
            state = multiply(power, state)
        power = multiply(power, power)
        n >>= 1
    return state[0][0] % MOD


for _ in range(int(input())):
    print(ways(int(input())))
