# why: one endless line
while True:
    print("3" * 65536, end="")
