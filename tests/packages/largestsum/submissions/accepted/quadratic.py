n = int(input())
numbers = list(map(int, input().split()))
print(max(sum(numbers[i:j]) for i in range(n) for j in range(i + 1, n + 1)))
