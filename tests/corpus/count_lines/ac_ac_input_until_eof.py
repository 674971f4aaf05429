# why: input() passes over blank lines and raises EOFError at the end, as it should
count = 0
try:
    while True:
        input()
        count += 1
except EOFError:
    print(count)
