def digit_sum(n):
    return sum(map(int, str(n)))
