# why: a main guard written with `in` stays false upstream
if __name__ in ("__main__", "main"):
    print(sum(map(int, input().split())))
