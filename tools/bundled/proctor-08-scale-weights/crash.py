class OutOfBalance(BaseException):
    pass


n, p = map(int, input().split())
weights = list(map(int, input().split()))
if sum(weights) != p:
    raise OutOfBalance(p - sum(weights))
print(1)
