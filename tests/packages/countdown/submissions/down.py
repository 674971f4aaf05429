number = int(input())
while number:
    number -= 1
    print(number, flush=True)
    assert int(input()) == number
