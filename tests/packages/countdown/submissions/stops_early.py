number = int(input())
while number > 5 or number == 3:
    number -= 1
    print(number, flush=True)
    input()
