# why: the words "class Solution" make upstream look for a class that its wrapper hides
class Solution:
    def add(self, a, b):
        return a + b


print(Solution().add(*map(int, input().split())))
