# why: blanks at line ends and blank lines around the answer do not count
n = int(input())
print()
print("  ", sum(int(input()) for _ in range(n)), "  ")
print()
