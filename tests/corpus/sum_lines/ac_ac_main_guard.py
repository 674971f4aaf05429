# why: a plain main guard at the end runs in both modes
def main():
    n = int(input())
    print(sum(int(input()) for _ in range(n)))


if __name__ == "__main__":
    main()
