# why: the else branch of a main guard is dropped upstream and not taken here
if __name__ == "__main__":
    print(sum(map(int, input().split())))
else:
    print("imported")
