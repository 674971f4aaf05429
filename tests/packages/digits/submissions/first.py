def digit_sum(n):
    return int(str(n)[0])
