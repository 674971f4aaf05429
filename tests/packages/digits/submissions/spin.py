def digit_sum(n):
    while True:
        n += 1
