MOD = 998244353
known = {0: 1, 1: 1, 2: 2}


def ways(n):
    return (known[n - 1] + known[n - 2] + known[n - 3]) % MOD


for _ in range(int(input())):
    n = int(input())
    known[n] = ways(n)
    print(known[n])
