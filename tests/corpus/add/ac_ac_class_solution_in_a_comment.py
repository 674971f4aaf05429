# why: upstream drops comments before it searches for the words
# class Solution: not used here
a, b = map(int, input().split())
print(a + b)
