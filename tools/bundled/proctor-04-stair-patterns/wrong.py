MOD = 998244353
STEP = [[1, 1, 1], [1, 0, 0], [0, 1, 0]]


def multiply(x, y):
    columns = list(zip(*y))
    return [[sum(p * q for p, q in zip(row, column)) % MOD for column in columns] for row in x]


def ways(n):
    state = [[1], [0], [0]]
    power = STEP
    while n:
        if n & 1:
            state = multiply(power, state)
        power = multiply(power, power)
        n >>= 1
    return state[0][0]


for _ in range(int(input())):
    print(ways(int(input())))
