# why: upstream knows the main guard by its exact text only
def main():
    print(sum(map(int, input().split())))


if "__main__" == __name__:
    main()
