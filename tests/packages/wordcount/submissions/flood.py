line = "word 1\n" * 10000
while True:
    print(line)
