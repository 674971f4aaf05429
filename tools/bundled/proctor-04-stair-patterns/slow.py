MOD = 998244353


def ways(n):
    short = [1, 0, 0]  # ways to stand here, one and two steps below, last stride not of three
    three = [0, 0, 0]  # the same with a last stride of three
    for _ in range(n):
        total = (short[0] + three[0] + short[1] + three[1]) % MOD
        long = short[2]
        short = [total, short[0], short[1]]
        three = [long, three[0], three[1]]
    return (short[0] + three[0]) % MOD


for _ in range(int(input())):
    print(ways(int(input())))
