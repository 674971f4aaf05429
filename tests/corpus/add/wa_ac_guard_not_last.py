# why: upstream opens the main guard only where it is the last statement
if __name__ == "__main__":
    print(sum(map(int, input().split())))

done = True
